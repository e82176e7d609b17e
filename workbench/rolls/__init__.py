"""Upgrades of a pool's nodes in place, one node after the other: progress of each node, state of the cluster, and
decisions. Does no I/O.

The new driver is deployed while the nodes keep the old one. Then each node takes no new Pods, its work ends, it gets
the new driver, and it is proved before it gets work again. The progress is on the nodes, in an annotation.
"""
