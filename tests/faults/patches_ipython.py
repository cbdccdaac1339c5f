"""Transformers, formatters, hooks and the publisher."""

from tests.faults import Fault, cheat

PATCH = """
ip = get_ipython()
ip.input_transformers_cleanup.append(lambda lines: ["1.0\\n"])
type(ip).run_cell = type(ip).showtraceback = lambda *a, **k: None
ip.display_formatter.format = lambda *a, **k: ({"text/plain": "99.0"}, {})
ip.display_formatter.formatters["text/plain"].for_type(float, lambda x, p, c: p.text("99.0"))
ip.set_custom_exc((Exception,), lambda *a, **k: None)
ip.display_pub.publish = lambda *a, **k: None
type(ip.display_pub).publish = lambda self, data, **k: None
import sys
sys.displayhook = lambda x: None
"""
FAULT = Fault(cheat(PATCH), {"3.11": 0, "3.10": 0, "3.12": 0}, ("changes sys.displayhook",))
