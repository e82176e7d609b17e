"""Kubernetes objects as plain data, and watches on them: the parts that every simulated controller uses."""
