"""Secrets of a stack, as secret Pulumi Outputs. They are no settings, because settings are printed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pulumi

from physical_ai.settings.faults import SettingsError, fault
from physical_ai.settings.guards import is_map
from physical_ai.settings.layers.names import stack_label
from physical_ai.settings.layers.stack_file import PREFIX, SECRETS

Secrets = dict[str, "pulumi.Output[str]"]


def secrets(texts: Mapping[str, str]) -> Secrets:
    """The secrets by name, each as a secret Output."""
    return {name: pulumi.Output.secret(text) for name, text in texts.items()}


def secret_texts(config: pulumi.Config) -> dict[str, str]:
    """Texts of the secrets under `physical-ai:secrets`, by name, for rules about them; empty for a stack without
    secrets.

    Raises SettingsError when a value is not text. The message never shows the value.
    """
    values: Any = config.get_object(SECRETS)
    path, file = f"{PREFIX}{SECRETS}", stack_label(pulumi.get_stack())
    if values is None:
        return {}
    if not is_map(values):
        raise SettingsError([fault(file, path, "Secrets are a map from name to text.", "Like: {token: ...}")])
    wrong = [name for name, value in values.items() if not isinstance(value, str)]
    if wrong:
        fix = "pulumi config set --secret --path 'secrets.NAME'"
        raise SettingsError([fault(file, f"{path}.{name}", "A secret must be text.", fix) for name in wrong])
    return {name: str(value) for name, value in values.items()}
