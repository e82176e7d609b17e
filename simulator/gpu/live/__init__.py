"""The simulated GPU stack against a real API server: operator, NFD and kubelets of one simulated cluster, in one
process.

    watch → State and NodeStates → `simulator.gpu` decides → writes

The process runs as long as the control plane: a Pod that is deleted an hour after `up` is created again.
"""
