"""The objects that OSMO creates in the cluster for a workflow."""
