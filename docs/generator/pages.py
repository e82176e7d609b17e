"""List of the generated files under `docs`, with the function that generates each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from docs.generator import (
    acceptance,
    alerts,
    capacity,
    catalogue,
    chart_values,
    commands,
    goodput,
    held_against,
    images,
    impact,
    licences,
    nccl,
    outputs,
    package_diagram,
    prerequisites,
    questions,
    reachability,
    settings,
    statements,
    support,
    team_workflows,
    troubleshooting,
)
from docs.generator.pictures import registry as pictures
from physical_ai.readiness import document as readiness
from physical_ai.repository import ROOT
from workbench.osmo.lint import document as lint
from workbench.policies import document as policies

_FOLDER = ROOT / "docs" / "reference"


OWN: Mapping[Path, Callable[[], str]] = {
    _FOLDER / "settings.md": settings.document,
    _FOLDER / "catalogue.md": catalogue.document,
    _FOLDER / "chart-values.md": chart_values.document,
    _FOLDER / "commands.md": commands.document,
    _FOLDER / "outputs.md": outputs.document,
    _FOLDER / "held-against.md": held_against.document,
    _FOLDER / "images.md": images.document,
    licences.FILE: licences.document,
    questions.FILE: questions.document,
    statements.FILE: statements.document,
    acceptance.FILE: acceptance.document,
    goodput.FILE: goodput.document,
    impact.FILE: impact.page,
    impact.PAGE: impact.renewed,
    impact.PICTURE: impact.sample,
    troubleshooting.FILE: troubleshooting.renewed,
    nccl.FILE: nccl.renewed,
    capacity.FILE: capacity.renewed,
    reachability.FILE: reachability.renewed,
    prerequisites.FILE: prerequisites.renewed,
    support.FILE: support.renewed,
    alerts.FILE: alerts.document,
    package_diagram.FILE: package_diagram.renewed,
    **team_workflows.PAGES,
    **{page: partial(pictures.renewed, page) for page in pictures.PAGES},
}
"""The content of each file that this package generates."""

PAGES: Mapping[Path, Callable[[], str]] = {
    **OWN,
    lint.FILE: lint.document,
    policies.FILE: policies.document,
    readiness.FILE: lambda: pictures.drawn(readiness.gates_page()),
    readiness.PODS_FILE: lambda: pictures.drawn(readiness.pods_page()),
}
"""The files of `OWN`, and the pages that other packages generate. Tests generate the two pages about the GRID
agent.
"""


def stale() -> list[Path]:
    """Files that differ from the generated text."""
    return [path for path, text in PAGES.items() if not path.is_file() or path.read_text(encoding="utf-8") != text()]


def write() -> list[Path]:
    """Write the stale files, and return their paths."""
    outdated = stale()
    for path in outdated:
        path.write_text(PAGES[path](), encoding="utf-8")
    return outdated
