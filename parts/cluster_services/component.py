"""The component of storage and load balancer, which has the version of each."""

from __future__ import annotations

from typing import Any

from components.kubernetes.chart_part import ChartPart


class ClusterServices(ChartPart):
    """The releases, each with the objects of its own kinds after it."""

    def reported(self) -> dict[str, Any]:
        return {"versions": {each.name: each.chart.version for each in self.args.plan.releases}}


COMPONENT = ClusterServices
