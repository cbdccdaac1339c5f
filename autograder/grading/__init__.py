"""Grading, on the trusted side: reading, repairing, running in a box, judging, recording."""
