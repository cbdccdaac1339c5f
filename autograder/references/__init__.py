"""References, on the trusted side: what answers are held against."""
