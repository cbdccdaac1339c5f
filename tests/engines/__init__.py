"""Right engines in many styles, each a file of its own: whatever is right must pass."""
