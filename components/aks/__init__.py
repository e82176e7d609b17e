"""The AKS cluster, its node pools, and who may use it."""
