"""The programs that acceptance runs on simulated GPU nodes: what they print, computed from the node's state."""
