"""The controllers of one simulated cluster that are not Kubernetes' own, in one process beside its control plane."""
