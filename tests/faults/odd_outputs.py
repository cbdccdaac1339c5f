"""Figures, widgets, raw MIME data, numbers that JSON does not know, lone surrogates."""

from tests.faults import Fault, own_cell

ODD = """
from IPython.display import HTML, display
import matplotlib.pyplot as plt
for _ in range(3): plt.plot([1, 2]); plt.show()
display({"application/json": {"x": float("nan"), "y": [float("inf")]}}, raw=True)
display({"image/png": b"no picture", "text/html": 7, "a/b" * 300: "x", "x": {"deep": [[[[1]]]]}}, metadata={"image/png": 5}, raw=True)
display({"application/vnd.jupyter.widget-view+json": {"model_id": "../../x"}}, raw=True)
display(HTML("<script>alert(1)</script>" * 100_000))
print("a\\ud800b", "\\x1b[2J\\x00\\x07")
"\\udfff"
"""
FAULT = Fault(own_cell(ODD))
