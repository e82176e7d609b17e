"""Output of node_exporter about the InfiniBand ports of a node."""

from __future__ import annotations

from collections.abc import Mapping

from simulator.metrics.page import Page

ACTIVE, DOWN = 4, 1
"""Values of the metric `state_id` for a port with and without a link (prometheus/node_exporter
collector/infiniband_linux.go).
"""
ERRORS = (
    "excessive_buffer_overrun_errors_total",
    "link_downed_total",
    "link_error_recovery_total",
    "local_link_integrity_errors_total",
    "port_discards_received_total",
    "port_discards_transmitted_total",
    "port_errors_received_total",
    "port_receive_remote_physical_errors_total",
    "symbol_error_total",
    "vl15_dropped_total",
)
"""Error counters of a port, which stay at 0 while the link works (collector/infiniband_linux.go, v1.12.1).
node_exporter has all of them since v1.2.0.
"""
RATE = 50e9
"""Data rate of a port of 400 Gb/s, in bytes per second."""


NO_GAINS: Mapping[str, float] = {}


def page(ports: int, down: int = 0, gained: Mapping[str, float] = NO_GAINS) -> str:
    """The series of node_exporter's collector `infiniband` that show the health of ports. Azure's VM sizes have one
    port for each GPU.

    Args:
        ports: Number of ports.
        down: Number of ports without a link, counted from the first port.
        gained: Increase of each counter of the first port; the counters of all other ports are 0.
    """
    result = Page()

    def family(name: str, kind: str, value: float, *others: float) -> None:
        """Adds a family with one sample for each port: the values `others` for the first ports, `value` for all further
        ports.
        """
        full = f"node_infiniband_{name}"
        result.family(full, kind, "As node_exporter describes it.")
        for number in range(ports):
            own = others[number] if number < len(others) else value
            result.sample(full, {"device": f"mlx5_ib{number}", "port": "1"}, own)

    family("state_id", "gauge", ACTIVE, *[DOWN] * down)
    family("rate_bytes_per_second", "gauge", RATE, *[0.0] * down)
    for name in ERRORS:
        family(name, "counter", 0, gained.get(name, 0))
    return result.text()
