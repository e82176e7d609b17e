"""Conversion of a stack's name and further options to the input of a command: validated settings, and the configuration
for the engine.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from physical_ai.catalog.osmo_service import MEK_BYTES
from physical_ai.planning.service_chart import mek_file
from physical_ai.settings import STACKS, Loaded, Settings, load
from physical_ai.settings.facts.created import creates_cluster
from physical_ai.settings.facts.osmo import AGENT_TOKEN
from physical_ai.settings.facts.osmo_access import MEK_SECRET, control_plane_url
from physical_ai.settings.facts.required_secrets import required_secrets
from physical_ai.settings.layers.stack_file import PREFIX, SECRETS
from physical_ai.untrusted import documents, files
from workbench.cli.loaded_stack import overlays_of

if TYPE_CHECKING:
    from simulator.stack_input import StackInput

_ZEROS = base64.b64encode(bytes(MEK_BYTES)).decode()
OSMO_USER = "osmo-user"
"""OSMO role of users who submit workflows."""
SIMULATED_SERVICE = "https://osmo.invalid"
"""Address of OSMO's control plane in the simulation of a stack that names none. Nothing answers there; the simulator's
OSMO replaces the control plane.
"""


@dataclass(frozen=True)
class RequestedStack:
    """A stack with the command line's additions: its validated settings, and its input for the engine."""

    loaded: Loaded
    input: StackInput


def read_stack(
    stack: str, files: Sequence[Path] | None = None, assignments: Sequence[str] | None = None
) -> RequestedStack:
    """Loads and validates a stack: its settings together with those of the command line, and the values files of its
    charts.

    Raises:
        SettingsError: the settings are invalid; the text lists all faults.
    """
    overlays = overlays_of(files, assignments)
    loaded = load(stack, overlays)
    config, own_secrets = _stack_config(stack)
    for overlay in overlays:
        config = merge(config, {f"{PREFIX}{key}": value for key, value in overlay.data.items()})
    return completed(loaded, config, own_secrets)


def completed(loaded: Loaded, config: dict[str, Any], own_secrets: Sequence[str] = ()) -> RequestedStack:
    """A stack with the configuration `config`, completed by what a simulation makes up."""
    from simulator.stack_input import StackInput
    from workbench.cli.existing_cluster_input import existing_cluster_input

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
    return RequestedStack(loaded, StackInput(loaded.settings.stack, config, secrets, loaded.settings.record, existing))


def simulated_deployers(settings: Settings) -> list[dict[str, str]]:
    """Deployers of a stack in the simulator: the stack's own deployers, and the deployers of the simulated tenant."""
    from simulator.entra import DEPLOYER, SECOND_DEPLOYER

    named = [
        {"principalId": each.principal_id, "principalType": each.principal_type} for each in settings.access.deployers
    ]
    deployers = [{"principalId": each.object_id, "principalType": each.kind} for each in (DEPLOYER, SECOND_DEPLOYER)]
    return [*named, *(each for each in deployers if each not in named)]


def simulated_users(settings: Settings) -> list[str]:
    """Ids of the groups whose members may submit workflows: the stack's groups, and the group of the simulated tenant's
    deployers.
    """
    from simulator.entra import DEPLOYERS

    return list(dict.fromkeys([*settings.osmo.access.roles.get(OSMO_USER, ()), DEPLOYERS.object_id]))


def generated_secrets(settings: Settings) -> list[str]:
    """Names of the secrets that a simulation makes up.

    Their real values are not needed: OSMO's simulated control plane issues the token, nothing is sent to receivers of
    alerts, and nothing is stored in a database.
    """
    osmo = settings.osmo
    token = [AGENT_TOKEN] if osmo.needs_token else []
    return [*token, *(name for _, name in required_secrets(settings))]


def made_up(name: str) -> str:
    """Made-up value of a secret in a simulation, in the format that the secret's rule requires. Real secrets are not
    used.
    """
    return mek_file(_ZEROS) if name == MEK_SECRET else f"simulated-{name}"


def merge(base: Mapping[str, Any], top: Mapping[str, Any]) -> dict[str, Any]:
    """The settings `top` merged over the settings `base`. A null value in `top` stays in the result, because the
    program uses it to remove values of the layers.
    """
    merged = dict(base)
    for key, value in top.items():
        below = merged.get(key)
        if isinstance(value, Mapping) and isinstance(below, Mapping):
            merged[key] = merge(cast("Mapping[str, Any]", below), cast("Mapping[str, Any]", value))
        else:
            merged[key] = value
    return merged


def _stack_config(stack: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Values of the stack file without the secrets, and the names of the secrets."""
    document: dict[str, Any] = documents.load(files.read_text(STACKS / f"Pulumi.{stack}.yaml")) or {}
    config: dict[str, Any] = dict(document.get("config") or {})
    secrets: Mapping[str, Any] = config.pop(f"{PREFIX}{SECRETS}", None) or {}
    return config, tuple(sorted(secrets))
