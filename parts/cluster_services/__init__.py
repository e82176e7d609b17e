"""Longhorn and MetalLB: storage and load balancer of a cluster without a cloud."""
