"""json, struct and os, which carry the answers."""

from tests.faults import Fault, cheat

PATCH = """
import json, os, struct
json.dumps = lambda *a, **k: '{"exercise": "3.10", "observations": []}'
json.JSONEncoder.encode = json.JSONEncoder.iterencode = lambda *a: "[]"
json.encoder.c_make_encoder = None
struct.pack = lambda *a: b""
os.write = os.fork = os._exit = None
"""
FAULT = Fault(cheat(PATCH), {"3.11": 0, "3.10": 0, "3.12": 0}, ("",) * 20)
