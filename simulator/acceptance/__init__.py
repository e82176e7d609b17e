"""Output of the programs that acceptance runs on simulated GPU nodes, computed from the node's state."""
