"""The health of GPU nodes: checked before they get work, recorded, and restored."""
