"""Right, but numbers may stand on the right only: there is no 2 - x and no 2 / x."""

from tests.engines.set_of_parents import Value as Complete


class Value(Complete):
    __rsub__ = None
    __rtruediv__ = None
