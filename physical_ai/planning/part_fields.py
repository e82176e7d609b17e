"""Checks of the fields of optional parts; an invalid field is reported as a fault of the part's `part.py`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import get_args

from parts.part import Part, Stage
from physical_ai.catalog.lookup import nearest
from physical_ai.settings.faults import Fault, fault
from physical_ai.settings.layers.shape import shape_at

RESOURCE_TYPE = re.compile(r"[\w.-]+:[\w./-]+:\w+")


def field_faults(parts: Sequence[Part]) -> Iterator[Fault]:
    """Faults in the fields of `part.py`: an unknown stage, a setting that does not exist, a malformed Pulumi type, and
    a resource type or name that another part has too.
    """
    stages: list[str] = list(get_args(Stage))
    seen: dict[tuple[str, str], str] = {}
    for part in parts:
        file = f"parts/{part.name}/part.py"
        if part.stage not in stages:
            near = nearest(part.stage, stages)
            fix = f"Did you mean '{near}'?" if near else f"One of: {', '.join(stages)}."
            yield fault(file, "stage", f"'{part.stage}' is not a stage.", fix)
        if shape_at(part.setting) is None:
            fix = "Write the path of a setting, in the spelling of stack files."
            yield fault(file, "setting", f"There is no setting '{'.'.join(map(str, part.setting))}'.", fix)
        if not RESOURCE_TYPE.fullmatch(part.resource_type):
            fix = 'Write three words with colons, such as "physical-ai:kubernetes:FluentBit".'
            yield fault(file, "resource_type", f"'{part.resource_type}' is not a type of a Pulumi resource.", fix)
        for key, value in (("resource_type", part.resource_type), ("resource_name", part.resource_name)):
            if (other := seen.setdefault((key, value), part.name)) != part.name:
                yield fault(file, key, f"The part '{other}' has '{value}' too.", "Write a name that no other part has.")
