"""Simulated programs of the acceptance checks. Their output is computed from the state of the simulated GPU node."""
