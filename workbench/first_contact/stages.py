"""Stages of the first contact, as data, and the words of their commands for one stack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from physical_ai.catalog.reading import read_rows, row
from physical_ai.catalog.row import Row, Text

FILE = Path(__file__).with_name("stages.yaml")
AS_ON_AZURE = "as-on-azure"
ZERO = "{zero}"
"""Placeholder for several words of a command."""
Minutes = tuple[Annotated[float, Field(ge=0)], Annotated[float, Field(ge=0)]] | Literal["deployment", "nodes"]


class Stage(Row):
    """One stage: a command that exists by itself, and how its answer is judged."""

    name: Text
    title: Text
    does: Text
    command: tuple[Text, ...]
    simulated: tuple[Text, ...] | Text
    """Words in the simulator, or the reason why the stage is left out there."""
    judge: Literal["findings", "exit", "gates", "accept"]
    topics: tuple[Text, ...] = ()
    demands: Text | None = None
    each: Literal["platform"] | None = None
    keeps: Literal["kubeconfig"] | None = None
    asks: Text | None = None
    changes: bool = False
    minutes: Minutes
    cost: Literal["nothing", "standing", "gpus"] = "nothing"
    """Nodes that are paid for once the stage has passed: none, those without GPUs, or also one of each GPU pool."""
    back: Text


@dataclass(frozen=True)
class Subject:
    """The stack that a first contact is about, as far as its commands depend on it."""

    stack: str
    simulated: bool
    folder: str
    """Folder with state and evidence."""
    kubeconfig: str
    platforms: tuple[str, ...] = ()
    """Platforms of OSMO with GPUs; empty in a stack without OSMO."""
    from_zero: tuple[str, ...] = ()
    """GPU pools that may begin without nodes, and that the settings let begin with some."""


@lru_cache(maxsize=1)
def stages() -> tuple[Stage, ...]:
    """Every stage, in its order."""
    return tuple(row(Stage, _frozen(each), f"{FILE.name}: {each.get('name')}") for each in read_rows(FILE))


def _frozen(given: Mapping[str, object]) -> dict[str, object]:
    """The row with tuples in place of lists, which are not taken for them."""
    return {key: tuple(value) if isinstance(value, list) else value for key, value in given.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]  # what is in it is checked next


def left_out(stage: Stage, subject: Subject) -> str | None:
    """The reason why a stage is left out for a stack; None for one that is run."""
    if subject.simulated and isinstance(stage.simulated, str):
        return f"in the simulator: {stage.simulated}"
    uses_osmo = "osmo" in (stage.command[0], stage.name) or stage.each == "platform"
    if uses_osmo and not subject.platforms:
        return "the stack has no OSMO, or no platform with GPUs; start a Pod on each GPU pool by hand"
    return None


def commands(stage: Stage, subject: Subject) -> list[tuple[str, ...]]:
    """The commands of a stage that is not left out: one, or one for each platform."""
    template = stage.simulated if subject.simulated and not isinstance(stage.simulated, str) else stage.command
    platforms: Sequence[str] = subject.platforms if stage.each == "platform" else ("",)
    return [tuple(_words(template, subject, platform)) for platform in platforms]


def _words(template: Sequence[str], subject: Subject, platform: str) -> list[str]:
    known = {
        "stack": subject.stack,
        "kubeconfig": subject.kubeconfig,
        "folder": subject.folder,
        "platform": platform,
    }
    found: list[str] = []
    for word in template:
        found += zero_words(subject) if word == ZERO else [word.format_map(known)]
    return found


def zero_words(subject: Subject) -> list[str]:
    """Words that let GPU pools begin without nodes. On Azure, Pulumi writes them into the stack file."""
    paths = [f"pools.{pool}.scale.initial=0" for pool in subject.from_zero]
    if subject.simulated:
        return [word for path in paths for word in ("--set", path)]
    prefix = ["--config-path"] if paths else []
    return prefix + [word for path in paths for word in ("--config", f"physical-ai:{path}")]
