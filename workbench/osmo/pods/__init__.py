"""Kubernetes objects that OSMO creates for a workflow."""
