"""Data of the simulated faults."""
