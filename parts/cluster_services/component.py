"""Component of Longhorn and MetalLB. Its outputs contain the version of each."""

from __future__ import annotations

from typing import Any

from components.kubernetes.chart_part import ChartPart


class ClusterServices(ChartPart):
    """The releases of Longhorn and MetalLB. After each release, the component declares the objects whose kinds the
    release installs.
    """

    def reported(self) -> dict[str, Any]:
        return {"versions": {each.name: each.chart.version for each in self.args.plan.releases}}


COMPONENT = ClusterServices
