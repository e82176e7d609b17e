"""What the GRID agent decides, fault by fault: state, reason, next step, and a sentence that names the cause."""

from tests.support.grid_agent_cases import cluster, drivers, new_nodes, upgrades

CASES = [*new_nodes.CASES, *drivers.CASES, *upgrades.CASES, *cluster.CASES]
