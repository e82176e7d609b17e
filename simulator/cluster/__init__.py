"""Kubernetes objects as plain data, and watching them: what every controller of the simulator uses."""
