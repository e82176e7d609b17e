"""Evidence about a GPU machine: recorded since it joined, observed now, and put together for a report."""
