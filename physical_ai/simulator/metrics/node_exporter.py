"""What node_exporter prints of the InfiniBand ports of a node."""

from __future__ import annotations

from physical_ai.simulator.metrics.page import Page

ACTIVE, DOWN = 4, 1
"""States of a port (prometheus/node_exporter collector/infiniband_linux.go)."""
ERRORS = ("link_downed_total", "link_error_recovery_total", "port_errors_received_total")


def page(ports: int, down: int = 0) -> str:
    """The series of the collector `infiniband` that the rules use. Azure's sizes have one port for each GPU.

    Args:
        down: How many of them, from the first on, have no link.
    """
    result = Page()

    def family(name: str, kind: str, value: float, of_down: float = 0) -> None:
        full = f"node_infiniband_{name}"
        result.family(full, kind, "As node_exporter describes it.")
        for number in range(ports):
            result.sample(full, {"device": f"mlx5_ib{number}", "port": "1"}, of_down if number < down else value)

    family("state_id", "gauge", ACTIVE, DOWN)
    for name in ERRORS:
        family(name, "counter", 0)
    return result.text()
