"""Simulation of the cluster autoscaler as AKS runs it (kubernetes/autoscaler, cluster-autoscaler 1.36)."""

from __future__ import annotations

COMPONENT = "cluster-autoscaler"
