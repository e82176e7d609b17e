"""Component of Longhorn and MetalLB. Its outputs contain the version of each."""

from __future__ import annotations

from typing import Any

from components.kubernetes.chart_part import ChartPart


class ClusterServices(ChartPart):
    """The releases of Longhorn and MetalLB, each followed by the objects of the kinds that it brings."""

    def reported(self) -> dict[str, Any]:
        return {"versions": {each.name: each.chart.version for each in self.args.plan.releases}}


COMPONENT = ClusterServices
