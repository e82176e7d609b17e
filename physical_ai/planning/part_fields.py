"""Checks of the fields of optional parts; an invalid field is reported as a fault of the part's `part.py`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import get_args

from parts.part import Part, Stage
from physical_ai.catalog.lookup import nearest
from physical_ai.repository import PROJECT, part_folder
from physical_ai.settings.faults import Fault, fault
from physical_ai.settings.layers.names import existing
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.part_answers import path_problem

DOTTED = re.compile(r"(?<![\w./<])[A-Za-z]\w*(?:\.(?:[A-Za-z]\w*|<\w+>))*(?![\w/>])")
"""Expression for a word, or for words joined by dots such as `pools.<pool>.taints`, in a text; paths of files do not
match.
"""
NO_SETTING = "nothing"
"""Text of `Part.owned` for a key that no setting changes."""
RESOURCE_TYPE = re.compile(r"[\w.-]+:[\w./-]+:\w+")


def field_faults(parts: Sequence[Part]) -> Iterator[Fault]:
    """Faults in the fields of `part.py`: an unknown stage, a setting that does not exist, also where a text of `owned`
    names it, a malformed Pulumi type, a resource type or name that another part has too, and an example of a stack that
    does not exist.
    """
    stages: list[str] = list(get_args(Stage))
    stacks = existing()
    seen: dict[tuple[str, str], str] = {}
    for part in parts:
        file = f"parts/{part.name}/part.py"
        if part.stage not in stages:
            near = nearest(part.stage, stages)
            fix = f"Did you mean '{near}'?" if near else f"One of: {', '.join(stages)}."
            yield fault(file, "stage", f"'{part.stage}' is not a stage.", fix)
        if wrong := path_problem(part.setting):
            yield fault(file, "setting", *wrong)
        for text in (each for owners in part.owned.values() for each in owners.values()):
            for path in _settings_in(text):
                if wrong := path_problem(path):
                    yield fault(file, "owned", *wrong)
        # The platform's examples are stacks of its own repository, which a team's project may not have.
        own = part_folder(part.name).parent == PROJECT / "parts"
        for name in (name for name, _ in part.examples if own and name not in stacks):
            near = nearest(name, stacks)
            fix = f"Did you mean '{near}'?" if near else f"One of: {', '.join(stacks) or 'none'}."
            yield fault(file, "examples", f"There is no stack '{name}'.", fix)
        if not RESOURCE_TYPE.fullmatch(part.resource_type):
            fix = 'Write three words with colons, such as "physical-ai:kubernetes:FluentBit".'
            yield fault(file, "resource_type", f"'{part.resource_type}' is not a type of a Pulumi resource.", fix)
        for key, value in (("resource_type", part.resource_type), ("resource_name", part.resource_name)):
            if (other := seen.setdefault((key, value), part.name)) != part.name:
                yield fault(file, key, f"The part '{other}' has '{value}' too.", "Write a name that no other part has.")


def _settings_in(text: str) -> Iterator[Path]:
    """Paths of settings that a text of `Part.owned` names: one word, or words with dots in a text that begins with one.
    Another text is a reason.

    >>> list(_settings_in("runners.image and runners.pool"))
    [('runners', 'image'), ('runners', 'pool')]
    >>> list(_settings_in("nothing: its Pods read slurm.conf"))
    []
    """
    words = DOTTED.findall(text)
    paths = [tuple(word.split(".")) for word in words if "." in word or word == text != NO_SETTING]
    if paths and text.startswith(".".join(paths[0])):
        yield from paths
