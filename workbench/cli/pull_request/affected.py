"""Selection of the stacks that a change of files affects. A file of unknown purpose affects all stacks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import yaml

from physical_ai.nested import is_mapping
from physical_ai.settings import SettingsError, layers_below
from physical_ai.settings.layers.names import existing, profile_files, stack_label
from physical_ai.settings.layers.stack_file import PREFIX
from physical_ai.untrusted import documents, files

HARMLESS_FOLDERS = ("docs/", "tests/", ".github/", ".ci/", "stacks/schema/")
HARMLESS_FILES = (".gitignore", ".pre-commit-config.yaml", ".pre-commit-hooks.yaml", "LICENSE", "Makefile")
HARMLESS_ENDINGS = (".md",)
"""Endings of the names of files that no stack depends on."""
STACK_FOLDER = "stacks/"
PROFILE = "profile"


class Kind(StrEnum):
    CHANGED = "changed"
    NEW = "new"
    REMOVED = "removed"


@dataclass(frozen=True)
class Affected:
    """A stack that a change affects, with the changed files that are the reason."""

    stack: str
    kind: Kind
    files: tuple[str, ...]


def affected(
    files: Sequence[str], before: Mapping[str, frozenset[str]], after: Mapping[str, frozenset[str]]
) -> list[Affected]:
    """The stacks that a change affects, sorted by name.

    Args:
        files: Paths of the changed files, relative to the repository.
        before: Files of each stack in the base, from `own_files`.
        after: Files of each stack in the head, from `own_files`.
    """
    everywhere = [file for file in files if not is_harmless(file) and not file.startswith(STACK_FOLDER)]
    found: list[Affected] = []
    for name in sorted({**before, **after}):
        own = before.get(name, frozenset()) | after.get(name, frozenset())
        touched = (*(file for file in files if file in own), *everywhere)
        if name not in before:
            found.append(Affected(name, Kind.NEW, touched))
        elif name not in after:
            found.append(Affected(name, Kind.REMOVED, touched))
        elif touched:
            found.append(Affected(name, Kind.CHANGED, touched))
    return found


def is_harmless(file: str) -> bool:
    """True for a file on which no stack depends."""
    return file in HARMLESS_FILES or file.startswith(HARMLESS_FOLDERS) or file.endswith(HARMLESS_ENDINGS)


def own_files(root: Path) -> dict[str, frozenset[str]]:
    """Files of each stack in the folder `stacks` below `root`, by the stack's name.

    A stack file with an invalid name counts as a stack, too: its preview reports the problem, and the other stacks are
    still previewed.
    """
    return {name: frozenset(_files(name, root)) for name in existing(root)}


def _files(name: str, root: Path) -> Iterable[str]:
    own = root / f"Pulumi.{name}.yaml"
    document = _document(own, root.parent)
    config = document.get("config")
    try:
        layers = layers_below(name, config if is_mapping(config) else {}, root)
    except SettingsError:
        return [stack_label(name, root)]
    below = [_document(file, root.parent) for file in layers.values() if file.is_relative_to(root)]
    chosen = [profile for each in (document, *below) if (profile := _profile(each))]
    files = dict(layers) | {label: file for profile in chosen for label, file in profile_files(profile, root).items()}
    return [stack_label(name, root), *(label for label, file in files.items() if file.is_relative_to(root))]


def _document(file: Path, tree: Path) -> Mapping[str, Any]:
    """Content of a YAML file in a tree; empty if it cannot be read, or is not YAML."""
    try:
        found: Any = documents.load(files.read_text(file, within=tree))
    except (files.Unreadable, yaml.YAMLError):
        return {}
    return found if is_mapping(found) else {}


def _profile(document: Mapping[str, Any]) -> str | None:
    """Name of the profile that a stack file chooses; None if it chooses none."""
    for key, within in ((PROFILE, document), (f"{PREFIX}{PROFILE}", document.get("config"))):
        if is_mapping(within) and isinstance(chosen := within.get(key), str):
            return chosen
    return None
