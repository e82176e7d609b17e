"""Kubernetes' own rules on plain objects: quantities, taints, selectors, and which node can take a Pod.

Pure functions.

The simulator decides by these rules, and the diagnosis explains by them.
"""
