"""Performance figures of the simulated GPU models, in GB/s."""
