"""Golden recordings of the program: every resource that each committed stack, and each optional part, declares.

A line has a resource's type, its name and a digest of its inputs and options. A change that only moves code changes no
line; another one shows in the diff which resources of which stacks it is about.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unittest import mock

from physical_ai.settings import Overlay, load
from physical_ai.settings.facts.required_secrets import required_secrets
from tests.support import amd_settings
from tests.support.covering_stacks import OVERLAYS, of_parts
from tests.support.recording import Recording, merged, record
from tests.support.stacks import STACKS
from workbench.policies import Options, Secret

FOLDER = Path(__file__).parent / "declared"
DIGITS = 12
"""Digits of a digest that a line shows."""


def cases() -> dict[str, tuple[str, Mapping[str, Any]]]:
    """Stack and overrides of each recording, by the name of its file."""
    own = {stack: (stack, dict[str, Any]()) for stack in STACKS}
    options = {
        f"option-{number:02}-{_first_key(given)}": (stack, _mapping(given))
        for number, (stack, given) in enumerate(OVERLAYS, start=1)
    }
    return {**own, **options, **of_parts(), "option-amd": (amd_settings.STACK, amd_settings.GIVEN)}


def _mapping(given: Mapping[str, Any] | tuple[str, ...]) -> Mapping[str, Any]:
    return Overlay.assign(given).data if isinstance(given, tuple) else given


def _first_key(given: Mapping[str, Any] | tuple[str, ...]) -> str:
    """The setting that an option is named by: the first one that it sets."""
    return (given[0].partition("=")[0] if isinstance(given, tuple) else next(iter(given))).lower()


def recorded(stack: str, overrides: Mapping[str, Any]) -> Recording:
    """The recording of a stack with overrides, and with a value for each secret that they make necessary."""
    settings = load(
        stack, [Overlay("the recording", {key: overrides[key] for key in overrides if key != "secrets"})]
    ).settings
    secrets = {name: f"{name} of the test" for _, name in required_secrets(settings)}
    # The mark of a first deployment into an existing cluster is random.
    with mock.patch("components.kubernetes.existing_cluster.token_hex", return_value="0" * 16):
        return record(stack, merged({"secrets": secrets} if secrets else {}, overrides))


def lines(recording: Recording) -> list[str]:
    """A line for each resource, in the order of types and names."""
    return [f"{each.type} {each.name} {_digest(each.urn, each.inputs, each.options)}" for each in recording.resources]


def _digest(urn: str, inputs: Mapping[str, Any], options: Options) -> str:
    # The engine keeps dependencies as a set.
    content = [urn, inputs, {**dataclasses.asdict(options), "depends_on": sorted(options.depends_on)}]
    text = json.dumps(content, sort_keys=True, default=_plain)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def _plain(value: object) -> object:
    """What JSON has no form for: secrets are compared by their values, too."""
    return ["secret", value.value] if isinstance(value, Secret) else repr(value)


def path(case: str) -> Path:
    return FOLDER / f"{case}.txt"


def write() -> None:
    """All recordings anew; files of cases that are no more go. Nothing is written where a case can't be loaded."""
    found = {case: lines(recorded(stack, overrides)) for case, (stack, overrides) in cases().items()}
    for file in FOLDER.glob("*.txt"):
        file.unlink()
    for case, text in found.items():
        path(case).write_text("".join(f"{line}\n" for line in text))
