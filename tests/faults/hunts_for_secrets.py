"""Hidden tests, the gradebook, the source and the neighbours, by every road there is."""

from tests.faults import Fault, own_cell

HUNT = """
import glob, os, pathlib, sys
here = []
for folder, inner, names in os.walk("/"):
    # Not the system, and not the interpreter's own library.
    inner[:] = [d for d in inner if d not in ("proc", "sys", "usr", "lib", "lib64", "include", "share", "bin", "student")]
    here += [f"{folder}/{n}" for n in names if any(w in f"{folder}/{n}" for w in ("gradebook", "reverse_mode.py", "submitted", "exercises/"))]
secrets = [k for k in os.environ if "SECRET" in k or "TOKEN" in k]
history = [s for s in globals().get("In", []) if "HIDDEN" in s or "grade(" in s]
others = [p for p in os.listdir("/proc") if p.isdigit() and int(p) not in (os.getpid(), 1, 2)]
try:
    import autograder.exercises; judges = True
except ImportError: judges = False
print("found", here, secrets, history, others, judges)
"""
FAULT = Fault(
    own_cell(HUNT), flags=("imports autograder.exercises", "imports glob"), shows=("found [] [] [] [] False",)
)
