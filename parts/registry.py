"""The list of all optional parts, in the order in which a stack declares them."""

from __future__ import annotations

from importlib import import_module

from parts.part import Part
from parts.team_list import team_names
from physical_ai.repository import PART_FOLDERS, part_folder

NAMES = (
    "cluster_services",
    "kube_prometheus",
    "traces",
    "runners",
    "cert_manager",
    "dra",
    "network_operator",
    "nvsentinel",
    "amd",
    "slurm",
    "in_cluster_data",
)
"""Names of the platform's parts. A part's name is also its folder in `parts/`, whose module `part.py` describes the
part in the constant `PART`.
"""
TEAM = tuple(name for folder in PART_FOLDERS[1:] for name in team_names(folder))
"""Names of a team's own parts, which its project lists in `parts/parts.yaml`."""
LISTED = (*NAMES, *(name for name in TEAM if name not in NAMES))
"""Names of all parts, the platform's and the team's, in the order in which a stack declares them."""


def listed_part(name: str) -> Part | None:
    """The part `name`; None if its folder has no `part.py`, or `part.py` has no `Part` as its constant `PART`.

    `physical_ai.planning.part_files` reports what is missing.
    """
    if not (part_folder(name) / "part.py").is_file():
        return None
    part = getattr(import_module(f"parts.{name}.part"), "PART", None)
    return part if isinstance(part, Part) else None


PARTS: tuple[Part, ...] = tuple(part for name in LISTED if (part := listed_part(name)) is not None)
