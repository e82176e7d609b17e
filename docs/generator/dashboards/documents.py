"""The JSON text of every dashboard, and the file that each belongs in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from grafana_foundation_sdk.builders.dashboard import Dashboard
from grafana_foundation_sdk.cog.encoder import JSONEncoder

from docs.generator.dashboards import fleet, osmo_agents, osmo_service, osmo_workflow, status, workflow
from physical_ai.telemetry.dashboards import FOLDER

CODE: Mapping[str, Callable[[], Dashboard]] = {
    "status": status.dashboard,
    "fleet": fleet.dashboard,
    "workflow": workflow.dashboard,
    "osmo-workflow": osmo_workflow.dashboard,
    "osmo-agents": osmo_agents.dashboard,
    "osmo-service": osmo_service.dashboard,
}
"""The function that builds each dashboard, by the name of its file."""


def document(name: str) -> str:
    """JSON text of a dashboard, as Grafana imports it."""
    built = CODE[name]().build()
    # Grafana numbers the panels of a dashboard that is imported by hand, but links need numbers that stay.
    for number, panel in enumerate(built.panels or (), 1):
        panel.id_val = number
    return JSONEncoder(sort_keys=True, indent=1, ensure_ascii=False).encode(built) + "\n"


def stale() -> dict[Path, str]:
    """Generated text of each file that differs from it."""
    wanted = {FOLDER / f"{name}.json": document(name) for name in CODE}
    return {
        path: text for path, text in wanted.items() if not path.is_file() or path.read_text(encoding="utf-8") != text
    }
