"""Stages of the first contact, read from stages.yaml, and their command lines for one stack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from physical_ai.catalog.reading import read_rows, row
from physical_ai.catalog.row import Row, Text
from physical_ai.citations import cited

FILE = Path(__file__).with_name("stages.yaml")
AS_ON_AZURE = "as-on-azure"
CHECK, FRESH = ("physai", "check"), "--fresh"
ZERO, ONE = "{zero}", "{one}"
"""Placeholders in a command. ZERO stands for the arguments that let GPU pools begin without nodes (`zero_words`); ONE
for the arguments with which a check counts one node of each such pool (`one_words`).
"""
Minutes = tuple[Annotated[float, Field(ge=0)], Annotated[float, Field(ge=0)]] | Literal["deployment", "nodes"]


class Stage(Row):
    """One stage of stages.yaml, whose comment describes the fields."""

    name: Text
    title: Text
    does: Text
    command: tuple[Text, ...]
    simulated: tuple[Text, ...] | Text
    """Words of the command line in the simulator. The text `as-on-azure` stands for the words of `command`; any other
    text is the reason why the simulator leaves the stage out.
    """
    judge: Literal["findings", "exit", "gates", "accept"]
    topics: tuple[Text, ...] = ()
    demands: Text | None = None
    each: Literal["platform"] | None = None
    keeps: Literal["kubeconfig"] | None = None
    asks: Text | None = None
    changes: bool = False
    minutes: Minutes
    cost: Literal["nothing", "standing", "gpus"] = "nothing"
    """Nodes that cost money after the stage. `standing`: nodes without GPUs; `gpus`: also one node of each GPU pool."""
    back: Text


@dataclass(frozen=True)
class Subject:
    """Facts about the stack that the command lines of the stages depend on."""

    stack: str
    simulated: bool
    folder: str
    """Folder of the state file and the evidence."""
    kubeconfig: str
    platforms: tuple[str, ...] = ()
    """Names of the stack's OSMO platforms with GPUs; empty for a stack without OSMO."""
    empty: tuple[str, ...] = ()
    """Names of the GPU pools that the settings create without nodes. The stage `nodes` needs one node of each of these
    pools.
    """
    from_zero: tuple[str, ...] = ()
    """Names of the GPU pools that can scale to zero, but that the settings create with at least one node."""


@lru_cache(maxsize=1)
def stages() -> tuple[Stage, ...]:
    """All stages, in the order in which they run."""
    return tuple(row(Stage, _frozen(each), f"{FILE.name}: {each.get('name')}") for each in read_rows(FILE))


def _frozen(given: Mapping[str, object]) -> dict[str, object]:
    """A row of stages.yaml with each list converted to a tuple, because `Stage` accepts only tuples."""
    return {key: tuple(value) if isinstance(value, list) else value for key, value in given.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]  # what is in it is checked next


def left_out(stage: Stage, subject: Subject) -> str | None:
    """The reason why a stage is not run for a stack; None for a stage that is run."""
    if subject.simulated and isinstance(stage.simulated, str):
        return f"in the simulator: {stage.simulated}"
    uses_osmo = "osmo" in (stage.command[0], stage.name) or stage.each == "platform"
    if uses_osmo and not subject.platforms:
        return "the stack has no OSMO, or no platform with GPUs; start a Pod on each GPU pool by hand"
    return None


def commands(stage: Stage, subject: Subject, *, again: bool = False) -> list[tuple[str, ...]]:
    """Commands that run a stage: one command, or one for each platform.

    Args:
        again: True for a stage that was begun before. Its check then asks Azure again instead of using kept answers.
    """
    template = stage.simulated if subject.simulated and not isinstance(stage.simulated, str) else stage.command
    if again and template[:2] == CHECK and FRESH not in template:
        template = (*template, FRESH)
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
        more = {ZERO: zero_words, ONE: one_words}.get(word)
        found += [cited(word.format_map(known))] if more is None else more(subject)
    return found


def one_words(subject: Subject) -> list[str]:
    """Arguments with which a check counts one node of each GPU pool that begins without nodes."""
    return [word for pool in subject.empty for word in ("--set", f"pools.{pool}.scale.initial=1")]


def zero_words(subject: Subject) -> list[str]:
    """Arguments that let the pools of `from_zero` begin without nodes.

    On Azure, `pulumi` writes the setting into the stack file; in the simulator, `physai` changes it for one command.
    """
    paths = [f"pools.{pool}.scale.initial=0" for pool in subject.from_zero]
    if subject.simulated:
        return [word for path in paths for word in ("--set", path)]
    prefix = ["--config-path"] if paths else []
    return prefix + [word for path in paths for word in ("--config", f"physical-ai:{path}")]
