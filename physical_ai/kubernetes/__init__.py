"""Kubernetes' own rules on plain objects: quantities, taints, selectors, and which node takes a Pod. Pure.

The simulator decides by them, and the diagnosis explains by them.
"""
