"""Conversion of the command line to the input of a command: validated settings, and the configuration for
the engine.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from physical_ai.catalog.osmo_service import MEK_BYTES
from physical_ai.planning.service_chart import mek_file
from physical_ai.settings import STACKS, Loaded, Overlay, Settings, load
from physical_ai.settings.facts.created import creates_cluster
from physical_ai.settings.facts.osmo import AGENT_TOKEN
from physical_ai.settings.facts.osmo_access import MEK_SECRET, control_plane_url
from physical_ai.settings.facts.required_secrets import required_secrets
from physical_ai.settings.layers.stack_file import PREFIX, SECRETS
from physical_ai.untrusted import documents, files
from simulator.entra import DEPLOYER, DEPLOYERS, SECOND_DEPLOYER
from simulator.stack_input import StackInput
from workbench.cli.existing_cluster_input import existing_cluster_input

_ZEROS = base64.b64encode(bytes(MEK_BYTES)).decode()
OSMO_USER = "osmo-user"
"""Role of those who submit workflows."""
SIMULATED_SERVICE = "https://osmo.invalid"
"""The address that OSMO's agents get in a simulation of a stack that names no control plane; a stand-in replaces it."""


@dataclass(frozen=True)
class RequestedStack:
    """A stack with the command line's additions: its validated settings, and its input for the engine."""

    loaded: Loaded
    input: StackInput


def read_stack(
    stack: str, files: Sequence[Path] | None = None, assignments: Sequence[str] | None = None
) -> RequestedStack:
    """Loads and validates a stack with its overlays, and the values files of its charts.

    Raises:
        SettingsError: with all faults; nothing has been changed then.
    """
    overlays = [Overlay.read(file) for file in files or ()]
    if assignments:
        overlays.append(Overlay.assign(assignments))
    loaded = load(stack, overlays)
    config, own_secrets = _stack_config(stack)
    for overlay in overlays:
        config = merge(config, {f"{PREFIX}{key}": value for key, value in overlay.data.items()})
    osmo = loaded.settings.osmo
    if osmo.installs_backend and control_plane_url(loaded.settings) is None:
        config = merge(config, {f"{PREFIX}osmo": {"serviceUrl": SIMULATED_SERVICE}})
    if osmo.installs_service and osmo.access.login == "entra":
        roles = {OSMO_USER: simulated_users(loaded.settings)}
        config = merge(config, {f"{PREFIX}osmo": {"access": {"roles": roles}}})
    if creates_cluster(loaded.settings):
        config = merge(config, {f"{PREFIX}access": {"deployers": simulated_deployers(loaded.settings)}})
    secrets = {name: made_up(name) for name in (*own_secrets, *generated_secrets(loaded.settings))}
    existing = existing_cluster_input(loaded.settings)
    return RequestedStack(loaded, StackInput(stack, config, secrets, loaded.settings.record, existing))


def simulated_deployers(settings: Settings) -> list[dict[str, str]]:
    """The stack's deployers, and those of the simulation, who do not exist in the real tenant."""
    named = [
        {"principalId": each.principal_id, "principalType": each.principal_type} for each in settings.access.deployers
    ]
    own = [{"principalId": each.object_id, "principalType": each.kind} for each in (DEPLOYER, SECOND_DEPLOYER)]
    return [*named, *(each for each in own if each not in named)]


def simulated_users(settings: Settings) -> list[str]:
    """Groups whose members may submit workflows: the stack's, and the group of the simulation's deployers."""
    return list(dict.fromkeys([*settings.osmo.access.roles.get(OSMO_USER, ()), DEPLOYERS.object_id]))


def generated_secrets(settings: Settings) -> list[str]:
    """Names of the secrets that the simulation makes up.

    The simulated control plane of OSMO issues the token, nothing is sent to alert receivers, and nothing is stored in a
    datastore.
    """
    osmo = settings.osmo
    token = [AGENT_TOKEN] if osmo.needs_token else []
    return [*token, *(name for _, name in required_secrets(settings))]


def made_up(name: str) -> str:
    """Value in a simulation for a secret of this name, in the format that its rule requires; real secrets
    are not used.
    """
    return mek_file(_ZEROS) if name == MEK_SECRET else f"simulated-{name}"


def merge(base: Mapping[str, Any], top: Mapping[str, Any]) -> dict[str, Any]:
    """`top` merged over `base`. Nulls are kept: the program applies them to the layers below the stack file."""
    merged = dict(base)
    for key, value in top.items():
        below = merged.get(key)
        if isinstance(value, Mapping) and isinstance(below, Mapping):
            merged[key] = merge(cast("Mapping[str, Any]", below), cast("Mapping[str, Any]", value))
        else:
            merged[key] = value
    return merged


def _stack_config(stack: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The stack file's values without its secrets, and the names of the secrets."""
    document: dict[str, Any] = documents.load(files.read_text(STACKS / f"Pulumi.{stack}.yaml")) or {}
    config: dict[str, Any] = dict(document.get("config") or {})
    secrets: Mapping[str, Any] = config.pop(f"{PREFIX}{SECRETS}", None) or {}
    return config, tuple(sorted(secrets))
