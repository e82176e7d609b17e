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
    """Regular expression of labels to drop: they identify nothing that another label does not."""
    namespace: str = OPERATOR_NAMESPACE
    guarded: bool = True
    """True where only the scraper may reach the Pods."""
    is_declared: bool = True
    """True where a container of the Pods declares the port."""
    has_monitor: bool = False
    """True where the exporter's chart declares the monitor; the program then does not limit further who may reach the
    Pods.
    """

    @property
    def endpoint_port(self) -> dict[str, Any]:
        if not self.is_declared:
            return {}
        return {"port": self.port} if isinstance(self.port, str) else {"targetPort": self.port}
