"""OSMO's control plane and its backend."""
