"""Reads a Pulumi stack file as a layer. The settings are the keys of `config` that begin with `physical-ai:`."""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import Any

from physical_ai.catalog import nearest
from physical_ai.repository import HAS_PROJECT, NO_PROJECT, NO_PROJECT_FIX, PROJECT_FILE, STACKS
from physical_ai.settings.faults import Fault, SettingsError, fault
from physical_ai.settings.guards import is_map
from physical_ai.settings.layers.document import Document
from physical_ai.settings.layers.merge import STACK_FILE_PREFIX, Layer
from physical_ai.settings.layers.names import stack_label, stacks_like
from physical_ai.settings.layers.overlay import read_file
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.layers.shape import tree

PREFIX = STACK_FILE_PREFIX
PROJECT = PREFIX.removesuffix(":")
SECRETS = "secrets"
"""Key of the stack's secrets, the only values in a stack file that are encrypted. Secrets are not part of the
settings.
"""
_TOP_LEVEL = ("config", "secretsprovider", "encryptedkey", "encryptionsalt", "environment")


def require_project() -> None:
    """Raises SettingsError where there is no project."""
    if not HAS_PROJECT:
        raise SettingsError([fault(PROJECT_FILE, "(file)", NO_PROJECT, NO_PROJECT_FIX)])


def read_stack(stack: str, root: FilePath) -> tuple[Layer, list[Fault]]:
    """Layer of a stack file, and the faults of the file itself.

    Raises SettingsError if the stack file does not exist.
    """
    label, file = stack_label(stack, root), root / f"Pulumi.{stack}.yaml"
    if not file.is_file():
        if root == STACKS:
            require_project()
        fix = f"{stacks_like(stack, root)}  A new one: physai stack new {stack}"
        raise SettingsError([fault(label, "(file)", "There is no such stack file.", fix)])
    document = read_file(file, label)
    faults = list(document.faults)
    for key in document.data:
        if key not in _TOP_LEVEL:
            near = "config" if key.startswith(PREFIX) or key in tree().fields else nearest(key, _TOP_LEVEL)
            fix = f"Put it under 'config:' as {PREFIX}{key.removeprefix(PREFIX)}." if near == "config" else None
            problem = f"'{key}' is not a key of a Pulumi stack file."
            faults.append(
                fault(label, key, problem, fix or f"Known: {', '.join(_TOP_LEVEL)}.", line=_line(document, key))
            )
    config = document.data.get("config")
    if config is not None and not is_map(config):
        faults.append(fault(label, "config", "config must be a map.", None, line=_line(document, "config")))
        config = None
    data, lines = dict[str, Any](), dict[Path, int]()
    for key, value in (config or {}).items():
        namespace, colon, name = str(key).partition(":")
        line = _line(document, "config", key)
        if not colon or (namespace != PROJECT and nearest(namespace, [PROJECT], cutoff=0.8)):
            problem = f"'{key}' has no namespace." if not colon else f"'{namespace}' is not this project's name."
            faults.append(fault(label, str(key), problem, f"Write {PREFIX}{name if colon else key}.", line=line))
        elif namespace == PROJECT and name != SECRETS:
            data[name] = value
            lines |= {(name, *path[2:]): at for path, at in document.lines.items() if path[:2] == ("config", key)}
    layer = Layer(label, data, PREFIX, lines)
    return layer, [*faults, *_secrets(layer, data, ())]


def _secrets(layer: Layer, value: Any, path: Path) -> list[Fault]:
    """Faults of settings with an encrypted value: settings are printed, so they may not hold secrets."""
    if not is_map(value):
        return []
    if set(value) == {"secure"}:
        fix = f"Move it to {PREFIX}{SECRETS}."
        return [layer.fault(path, "A secret can't be a setting: settings are printed.", fix)]
    return [f for key, item in value.items() for f in _secrets(layer, item, (*path, key))]


def _line(document: Document, *path: str) -> int | None:
    return document.lines.get(path)
