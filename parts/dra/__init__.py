"""NVIDIA's driver for dynamic resource allocation (DRA), and the claims by which Pods get GPUs."""
