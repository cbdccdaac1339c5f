"""Pictures whose sizes and file names are HTML, where pages write them as they stand; formulas that are links."""

from tests.faults import Fault, own_cell

ACTIVE = """
from IPython.display import display
picture = {"image/png": "iVBORw0KGgo=", "text/plain": "x"}
display(picture, metadata={"image/png": {"width": "1 onload=alert(1) x", "height": 5}}, raw=True)
display(picture, metadata={"width": "1 onload=alert(1)", "filenames": {"image/png": "https://elsewhere.example"}}, raw=True)
display({"text/latex": "$\\\\href{javascript:alert(1)}{x}$"}, raw=True)
"""
FAULT = Fault(own_cell(ACTIVE), never=("onload", "elsewhere.example", "\\\\href"))
