"""Dashboards of the platform: the JSON that Grafana imports, and the content of each panel.

>>> [dashboard.name for dashboard in dashboards()]
['status', 'fleet', 'workflow', 'osmo-workflow', 'osmo-agents', 'osmo-service']
"""

from __future__ import annotations

from physical_ai.telemetry.dashboards.model import Dashboard, Link, Panel, Query, Row, Threshold, Variable, filled
from physical_ai.telemetry.dashboards.reading import FOLDER, dashboards

__all__ = ["FOLDER", "Dashboard", "Link", "Panel", "Query", "Row", "Threshold", "Variable", "dashboards", "filled"]
