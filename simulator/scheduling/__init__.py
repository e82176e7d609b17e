"""Simulations of the KAI scheduler and of the cluster autoscaler."""
