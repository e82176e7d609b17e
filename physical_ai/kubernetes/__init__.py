"""Kubernetes' own rules on plain objects: quantities, taints, selectors, and which node can take a Pod.

Pure functions. The simulator decides with these rules where a Pod runs; the diagnosis explains with them why a Pod does
not run.
"""
