"""Evidence about a GPU machine: recorded since it joined, observed now, and combined for a report."""
