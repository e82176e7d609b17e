"""The GPU stack model against a real API server: operator, NFD and kubelets of one simulated cluster, in one process.

    watch → State and NodeStates → `physical_ai.simulator.gpu` decides → writes

The process belongs to the control plane and lives as long as it: a pod deleted an hour after `up` comes back.
"""
