"""Evidence about a GPU machine: records since it joined, present observations, and a report that combines them."""
