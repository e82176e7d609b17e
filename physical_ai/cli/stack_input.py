"""From the command line to what a command works on: validated settings, and the values that the engine gets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import yaml

from physical_ai.repository import VALUES
from physical_ai.settings import STACKS, Loaded, Overlay, Settings, load
from physical_ai.settings.facts.osmo import AGENT_TOKEN
from physical_ai.settings.layers.stack_file import PREFIX, SECRETS
from physical_ai.settings.plans.gpu_operator import gpu_plan
from physical_ai.simulator.stack_input import StackInput

SIMULATED_SERVICE = "https://osmo.invalid"
"""Where OSMO's agents are told to call, in a simulation of a stack that names no control plane: a stand-in takes its
place."""


@dataclass(frozen=True)
class Given:
    """A stack as the command line asks for it."""

    loaded: Loaded
    input: StackInput


def read(stack: str, files: Sequence[Path], assignments: Sequence[str]) -> Given:
    """Loads and judges a stack with its overlays, and the values files that go with it.

    Raises:
        SettingsError: with every fault there is; nothing has been touched then.
    """
    overlays = [Overlay.read(file) for file in files]
    if assignments:
        overlays.append(Overlay.assign(assignments))
    loaded = load(stack, overlays)
    gpu_plan(loaded.settings, VALUES)
    config, secret_names = _stack_config(stack)
    for overlay in overlays:
        config = laid_over(config, {f"{PREFIX}{key}": value for key, value in overlay.data.items()})
    osmo = loaded.settings.osmo
    if osmo.mode == "backend" and osmo.service_url is None:
        config = laid_over(config, {f"{PREFIX}osmo": {"serviceUrl": SIMULATED_SERVICE}})
    names = tuple(dict.fromkeys([*secret_names, *minted(loaded.settings)]))
    return Given(loaded, StackInput(stack, config, names, loaded.settings.record))


def minted(settings: Settings) -> list[str]:
    """Secrets that the simulation itself makes: OSMO's control plane, which makes the agents' token, is a stand-in."""
    osmo = settings.osmo
    return [AGENT_TOKEN] if osmo.mode == "backend" and osmo.login == "token" else []


def laid_over(base: Mapping[str, Any], top: Mapping[str, Any]) -> dict[str, Any]:
    """`top` merged over `base`. A null stays: the program has yet to apply it to the layers below the stack file."""
    merged = dict(base)
    for key, value in top.items():
        below = merged.get(key)
        if isinstance(value, Mapping) and isinstance(below, Mapping):
            merged[key] = laid_over(cast("Mapping[str, Any]", below), cast("Mapping[str, Any]", value))
        else:
            merged[key] = value
    return merged


def _stack_config(stack: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The stack file's values, and the names of its secrets, whose values stay where they are."""
    document: dict[str, Any] = yaml.safe_load((STACKS / f"Pulumi.{stack}.yaml").read_text()) or {}
    config: dict[str, Any] = dict(document.get("config") or {})
    secrets: Mapping[str, Any] = config.pop(f"{PREFIX}{SECRETS}", None) or {}
    return config, tuple(sorted(secrets))
