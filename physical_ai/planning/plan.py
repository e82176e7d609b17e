"""Plan of everything that is installed into a stack's cluster, from its settings and the files in `values/`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath

from parts.part import PartPlan
from parts.registry import PARTS
from physical_ai.catalog import UnknownName
from physical_ai.catalog.charts import Chart, chart
from physical_ai.planning.gpu_operator import CHART, GpuPlan, gpu_plan
from physical_ai.planning.grid_driver import GridPlan, grid_plan
from physical_ai.planning.osmo import OsmoRelease, osmo_releases
from physical_ai.planning.part_files import part_faults
from physical_ai.planning.part_plans import plan_faults, planned_by
from physical_ai.planning.service_chart import service_release
from physical_ai.repository import PARTS as PART_FILES
from physical_ai.repository import VALUES, is_team_project
from physical_ai.settings.facts.gpu import installs_operator
from physical_ai.settings.faults import Fault, SettingsError, fault
from physical_ai.settings.models.tree import Settings


@dataclass(frozen=True)
class Plan:
    """Plans of everything that a stack installs into its cluster."""

    gpu: GpuPlan
    grid: GridPlan | None
    """Plan of the GRID driver; None without a GRID pool."""
    osmo: tuple[OsmoRelease, ...]
    """Releases of the scheduler and the agents, in the order of installation; empty with `osmo.mode: namespaces`."""
    control_plane: OsmoRelease | None
    """Release of OSMO's control plane, without the addresses of its data services; None without `osmo.mode:
    platform`.
    """
    parts: Mapping[str, PartPlan]
    """Plans of the stack's optional parts, by name, in the order of `parts.registry`."""
    charts: tuple[Chart, ...]
    """Charts of all releases, in the order of installation."""
    warnings: tuple[Fault, ...] = ()
    """Warnings about the values files."""


def make_plan(settings: Settings, root: FilePath = VALUES, served: Sequence[Settings] = ()) -> Plan:
    """Plan of a stack.

    Raises SettingsError with every fault in the values files that the stack uses: unknown keys, keys without effect,
    keys that the settings decide, files for pools that no stack has.

    Args:
        settings: The stack's settings.
        root: Folder that has a folder of values files for each chart.
        served: Settings of the stacks whose clusters this stack's control plane serves.
    """
    gpu, faults = gpu_plan(settings, root)
    osmo, found = osmo_releases(settings, root)
    parts, useless = _part_plans(settings, _part_files(root))
    service, doubtful = service_release(settings, root, served)
    faults += [*found, *doubtful]
    faults = list(dict.fromkeys([*faults, *useless]))
    if errors := [each for each in faults if each.is_error]:
        raise SettingsError(errors)
    releases = [*osmo, *([service] if service else [])]
    inside = [chart for planned in parts.values() for chart in planned.charts]
    charts = (
        *((chart(CHART, settings.gpu_operator.version),) if installs_operator(settings) else ()),
        *inside,
        *(release.chart for release in releases),
    )
    return Plan(
        gpu=gpu,
        grid=grid_plan(settings),
        osmo=osmo,
        control_plane=service,
        parts=parts,
        charts=charts,
        warnings=tuple(faults),
    )


def _part_files(values: FilePath) -> FilePath:
    """Folder with the values files of parts, for a folder with the values files of the core's charts: `parts` beside
    `values` in a team's project; `PART_FILES` for this repository's own `VALUES`; otherwise (tests) `values` itself.
    """
    if is_team_project(values.parent):
        return values.parent / PART_FILES.name
    return PART_FILES if values == VALUES else values


def _part_plans(settings: Settings, root: FilePath) -> tuple[dict[str, PartPlan], list[Fault]]:
    """Plans of the stack's optional parts, and the faults of their values files.

    Raises SettingsError where the files of a part itself are inconsistent.
    """
    if unfit := part_faults():
        raise SettingsError(unfit)
    plans: dict[str, PartPlan] = {}
    faults: list[Fault] = []
    for part in PARTS:
        try:
            planned, found = planned_by(part, part.plan(settings, root))
        except UnknownName as unknown:
            near = f"Did you mean '{unknown.suggestion}'?" if unknown.suggestion else "Pin it in charts.yaml there."
            raise SettingsError([fault(f"parts/{part.name}/plan.py", "chart", str(unknown), near)]) from None
        faults += found
        if planned is not None:
            plans[part.name] = planned
            faults += plan_faults(part, planned, settings)
    return plans, faults
