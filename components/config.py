"""The engine's configuration of this project, decoded."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pulumi
from pulumi.runtime.config import CONFIG, get_config_env

SECRETS_KEY = "secrets"
"""The one key that may hold encrypted values; it is read through `settings.secrets`, never as a setting."""


def decode(value: Any) -> Any:
    """The value behind the text the engine hands over: objects, lists, booleans and numbers arrive as JSON."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


def of_project(raw: Mapping[str, Any], project: str) -> dict[str, Any]:
    """Decoded values by key without the project prefix, for every key of the project but `secrets`.

    >>> of_project({"physical-ai:protect": "true", "azure-native:location": "westus2"}, "physical-ai")
    {'protect': True}
    """
    prefix = f"{project}:"
    ours = {key.removeprefix(prefix): value for key, value in raw.items() if key.startswith(prefix)}
    return {key: decode(value) for key, value in ours.items() if key != SECRETS_KEY}


def engine_config() -> dict[str, Any]:
    """All settings the engine holds for this stack, declared in Pulumi.yaml or not.

    `pulumi.Config` only answers for keys one already knows, so a mistyped key would be ignored in silence.
    The language host passes everything in PULUMI_CONFIG, the Automation API in the runtime's own map.
    """
    return of_project({**get_config_env(), **CONFIG.get()}, pulumi.get_project())
