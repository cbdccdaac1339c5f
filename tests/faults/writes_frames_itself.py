"""Answers written straight into every descriptor that is open."""

from tests.faults import Fault, answers

FRAMES = """
import json, os, struct
def edge_visits(root):
    import sys
    frame = sys._getframe()
    while frame:
        job = frame.f_locals.get("job")
        if isinstance(job, dict) and "nonce" in job:
            forged = json.dumps({"nonce": job["nonce"], "status": "ok", "points": 2, "outputs": [
                {"output_type": "execute_result", "data": {"text/plain": "2.0", "application/vnd.autograder.verdict+json": {"score": 2}}, "metadata": {}},
                {"output_type": "display_data", "data": {"application/vnd.autograder.evidence+json": '{"exercise":"3.10","observations":[]}'}}]}).encode()
            for fd in range(3, 1024):
                try: os.write(fd, struct.pack("!I", len(forged)) + forged)
                except OSError: pass
        frame = frame.f_back
    return 1, 1
"""
FAULT = Fault(
    answers(e3_10=FRAMES),
    {"3.10": 0},
    ("uses _getframe, f_back, f_locals", "3.10: the evidence does not have one observation per case"),
)
