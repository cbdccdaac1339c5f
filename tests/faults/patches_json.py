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
CHANGED = (
    "json.JSONEncoder.encode",
    "json.JSONEncoder.iterencode",
    "json.dumps",
    "json.encoder.c_make_encoder",
    "os._exit",
    "os.fork",
    "os.write",
    "struct.pack",
)
FAULT = Fault(
    cheat(PATCH),
    {"3.11": 0, "3.10": 0},
    (*(f"changes {name}" for name in CHANGED), "a cell of the student's own interfered with the grader"),
)
