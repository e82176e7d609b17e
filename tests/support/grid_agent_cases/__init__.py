"""Decisions of the GRID agent, fault by fault: state, reason, next step, and a text that names the cause."""

from tests.support.grid_agent_cases import cluster, drivers, new_nodes, upgrades

CASES = [*new_nodes.CASES, *drivers.CASES, *upgrades.CASES, *cluster.CASES]
