"""The health of GPU nodes: proved before work, recorded, and restored."""
