"""Which pod goes where, and where nodes for it come from: models of KAI and of the cluster autoscaler."""
