"""What node_exporter prints of the InfiniBand ports of a node. No fault of a port is modelled: all are active."""

from __future__ import annotations

from physical_ai.simulator.metrics.page import Page

ACTIVE = 4
"""State of a port (prometheus/node_exporter collector/infiniband_linux.go)."""
ERRORS = ("link_downed_total", "link_error_recovery_total", "port_errors_received_total")


def page(ports: int) -> str:
    """The series of the collector `infiniband` that the rules use. Azure's sizes have one port for each GPU."""
    result = Page()

    def family(name: str, kind: str, value: float) -> None:
        full = f"node_infiniband_{name}"
        result.family(full, kind, "As node_exporter describes it.")
        for number in range(ports):
            result.sample(full, {"device": f"mlx5_ib{number}", "port": "1"}, value)

    family("state_id", "gauge", ACTIVE)
    for name in ERRORS:
        family(name, "counter", 0)
    return result.text()
