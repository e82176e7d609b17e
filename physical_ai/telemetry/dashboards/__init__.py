"""The dashboards of the platform: what each panel shows, and the JSON that Grafana reads.

>>> [dashboard.name for dashboard in DASHBOARDS]
['fleet', 'workflow']
"""

from __future__ import annotations

from physical_ai.telemetry.dashboards.fleet import FLEET
from physical_ai.telemetry.dashboards.grafana import document
from physical_ai.telemetry.dashboards.model import Dashboard, Panel, Query, Row, Variable
from physical_ai.telemetry.dashboards.workflow import WORKFLOW

DASHBOARDS = (FLEET, WORKFLOW)

__all__ = ["DASHBOARDS", "Dashboard", "Panel", "Query", "Row", "Variable", "document"]
