"""Component resources of the optional parts."""

from __future__ import annotations

from importlib import import_module

import pulumi

from components.kubernetes.chart_part import ChartPart
from parts.part import Part
from physical_ai.repository import part_folder


def component_of(part: Part) -> type[ChartPart]:
    """Component class of a part: the constant COMPONENT of its `component.py`; `ChartPart` where it has no such
    module.

    Raises:
        pulumi.RunError: The module has no such class.
    """
    if not (part_folder(part.name) / "component.py").is_file():
        return ChartPart
    found = getattr(import_module(f"parts.{part.name}.component"), "COMPONENT", None)
    if isinstance(found, type) and issubclass(found, ChartPart):
        return found
    raise pulumi.RunError(
        f"parts/{part.name}/component.py: COMPONENT\n  The module names no class of the part's component.\n"
        "  Write COMPONENT = and the name of its subclass of ChartPart."
    )
