"""Data of the simulated GPU stack: operands as of the newest release, and the differences of each older release."""
