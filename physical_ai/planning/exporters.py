"""Exporters of metrics: their Pods, and the port to scrape."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from physical_ai.settings.facts.gpu import OPERATOR_NAMESPACE


@dataclass(frozen=True)
class Exporter:
    """Pods that report metrics."""

    name: str
    labels: Mapping[str, str]
    port: str | int
    number: int
    dropped: str = ""
    """Regular expression of the metric labels to drop, because other labels already identify the same series."""
    namespace: str = OPERATOR_NAMESPACE
    guarded: bool = True
    """True if a network policy lets only the scraper reach the Pods in every stack; False if that policy exists only in
    stacks that isolate the Pods' namespace.
    """
    is_declared: bool = True
    """True where a container of the Pods declares the port."""
    has_monitor: bool = False
    """True where the exporter's chart itself declares the monitor; the program then declares neither a monitor nor a
    network policy for the exporter.
    """

    @property
    def endpoint_port(self) -> dict[str, Any]:
        if not self.is_declared:
            return {}
        return {"port": self.port} if isinstance(self.port, str) else {"targetPort": self.port}
