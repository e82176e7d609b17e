"""What documented commands set is judged by the program itself: keys and secrets in a stack's file, and `--set`."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from physical_ai.repository import STACKS
from physical_ai.settings import Overlay, SettingsError, load
from physical_ai.settings.layers.stack_file import PREFIX
from tests.support.cases import in_one_test
from tests.support.shell_blocks import Command, split
from tests.support.stacks import STACKS as NAMES
from tests.unit.docs.test_docs_commands import ALL, OURS, PLACEHOLDER

ENCRYPTED = {"secure": "v1:AAAA"}
STEP = re.compile(r"[^.\[\]]+|\[\d+\]")


@dataclass(frozen=True)
class Setting:
    """What a `pulumi config set` writes. Without `--path` a key has no parts."""

    key: str
    value: Any
    by_path: bool

    def within(self, config: dict[str, Any]) -> dict[str, Any]:
        """A configuration after the command, as the Pulumi CLI writes it."""
        prefix, _, path = self.key.partition(":")
        first, *rest = STEP.findall(path) if self.by_path else [path]
        return {**config, f"{prefix}:{first}": _set(config.get(f"{prefix}:{first}"), rest, self.value)}


def setting(command: Command) -> Setting | None:
    """None for other commands, and for what is not written out."""
    words = list(command.words)
    if words[:3] != ["pulumi", "config", "set"] or not command.complete:
        return None
    options = {word for word in words if word.startswith("--")}
    key, *values = [word for word in words[3:] if not word.startswith("-")]
    if "--secret" not in options and PLACEHOLDER.fullmatch(values[0]):
        return None
    value = ENCRYPTED if "--secret" in options else _typed(values[0])
    return Setting(key if ":" in key else PREFIX + key, value, "--path" in options)


def _typed(text: str) -> Any:
    """Numbers and booleans are such in a path, everything else is text (pulumi, sdk/go/common/resource/config)."""
    return yaml.safe_load(text) if re.fullmatch(r"true|false|0|-?[1-9]\d*", text) else text


def _set(inside: Any, steps: list[str], value: Any) -> Any:
    if not steps:
        return value
    step, *rest = steps
    if step.startswith("["):
        items: list[Any] = list(inside or [])
        place = int(step[1:-1])
        return [*items[:place], _set(items[place] if place < len(items) else None, rest, value), *items[place + 1 :]]
    known: Mapping[str, Any] = inside or {}
    return {**known, step: _set(known.get(step), rest, value)}


def refusals(stack: str, found: Setting, folder: Path) -> list[str]:
    """What the program says against the key itself in this stack."""
    root = folder / "stacks"
    if not root.exists():
        shutil.copytree(STACKS, root)
    file = root / f"Pulumi.{stack}.yaml"
    document: dict[str, Any] = yaml.safe_load((STACKS / file.name).read_text())
    document["config"] = found.within(document.get("config") or {})
    file.write_text(yaml.safe_dump(document))
    try:
        load(stack, root=root)
    except SettingsError as problem:
        own = found.key.partition(":")[2]
        places = {each: each.where.removeprefix(PREFIX) for each in problem.faults}
        return [str(each) for each, place in places.items() if own.startswith(place) or place.startswith(own)]
    return []


SET = [command for command in ALL if setting(command) is not None]


@pytest.mark.parametrize("command", SET, ids=lambda each: f"{each.page}: {' '.join(each.words)}")
def test_the_program_takes_what_a_page_sets(command: Command, tmp_path: Path) -> None:
    found = setting(command)
    assert found is not None
    refused = dict[str, list[str]]()
    for stack in NAMES:
        refused[stack] = refusals(stack, found, tmp_path)
        if not refused[stack]:
            return
    pytest.fail(f"every stack refuses it: {refused}")


@pytest.mark.parametrize(
    "text",
    [
        "pulumi config set --secret store 'mongodb://USER:PASSWORD@HOST:27017/?tls=true'",
        "pulumi config set --secret --path 'physical-ai:store' x",
        "pulumi config set --path 'physical-ai:osmo.servicUrl' https://osmo.example.com",
        "pulumi config set --path 'physical-ai:dataServices.redis.key' tertiary",
    ],
)
def test_what_the_program_refuses_is_found(text: str, tmp_path: Path) -> None:
    (words,) = split(text)
    found = setting(Command("page", words, complete=True))
    assert found is not None
    assert refusals("dev-westus2", found, tmp_path)


REFUSED = {("physai", "preview", "dev-westus2", "--set", "pools.h100gpu.sku=Standard_NC40ads_H100_v6")}
"""The tutorial shows what the program says to it."""


def overlaid() -> dict[str, tuple[str, list[str]]]:
    """Stack and assignments of each documented command of ours that has some."""
    found: dict[str, tuple[str, list[str]]] = {}
    for command in OURS:
        words = command.words
        given = [words[place + 1] for place, word in enumerate(words[:-1]) if word == "--set"]
        stacks = [word for word in words if word in NAMES]
        written_out = not any(PLACEHOLDER.fullmatch(each.partition("=")[2]) or "…" in each for each in given)
        if given and command.complete and written_out and words[1] != "run" and words not in REFUSED:
            found[f"{command.page}: {' '.join(words)}"] = (stacks[0] if stacks else "dev-westus2", given)
    return found


@in_one_test(("stack", "assignments"), overlaid().values(), ids=overlaid())
def test_the_program_takes_what_a_command_sets(stack: str, assignments: list[str]) -> None:
    load(stack, [Overlay.assign(assignments)])


def test_a_password_is_never_an_argument_of_a_documented_command() -> None:
    """A shell keeps it in its history, and a process list shows it. Without a value, the CLI asks for it."""
    for command in ALL:
        if command.words[:3] == ("pulumi", "config", "set") and "--secret" in command.words and command.complete:
            values = [word for word in command.words[3:] if not word.startswith("-")][1:]
            assert not values, f"{command.page}: {' '.join(command.words)}"
