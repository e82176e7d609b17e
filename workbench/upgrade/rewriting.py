"""Settings files of a team under the names of another version: new texts, and what only a person can rewrite."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from physical_ai.nested import is_mapping
from physical_ai.releases.notes import Release, Removal, Rename
from physical_ai.releases.renames import Keys, Place, former_keys, found, is_set, moved, renamed, without
from physical_ai.releases.versions import Version
from physical_ai.settings.layers.document import nearest_line, read_document
from physical_ai.settings.layers.paths import Path, show
from physical_ai.settings.layers.stack_file import PREFIX
from workbench.upgrade import yaml_text
from workbench.upgrade.yaml_text import NotEditable

CONFIG = "config"
_STACK_FILE = re.compile(r"stacks/Pulumi\.[^/]+\.yaml")


@dataclass(frozen=True)
class Rewrite:
    """One setting that gets a new name, or is removed, in one file."""

    file: str
    line: int | None
    old: str
    new: str | None
    """Present name; None for a setting that is removed."""
    version: str
    """Release that changed it."""
    note: str = ""
    """Sentence about the change: of the value, or what to write instead of a removed setting."""


@dataclass(frozen=True)
class Blocked:
    """A place that the command cannot rewrite, with what a person has to write."""

    file: str
    line: int | None
    path: str
    problem: str
    fix: str
    stops: bool = True
    """False if the version reads the file as it is, with a warning."""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line is not None else self.file
        return f"{place}: {self.path}\n  {self.problem}\n  {self.fix}"


@dataclass
class Rewritten:
    """Result for all files: new texts by path, the rewrites in them, and the places that need a person."""

    texts: dict[str, str] = field(default_factory=dict[str, str])
    rewrites: list[Rewrite] = field(default_factory=list[Rewrite])
    blocked: list[Blocked] = field(default_factory=list[Blocked])


@dataclass
class _File:
    """A file on the way: its present text, and the lines that its settings have in the file as it was."""

    path: str
    text: str
    lines: dict[Path, int]

    @property
    def is_stack(self) -> bool:
        return _STACK_FILE.fullmatch(self.path) is not None

    def data(self) -> dict[str, Any]:
        return read_document(self.text, self.path).data

    def line(self, path: Keys) -> int | None:
        return nearest_line(self.lines, self.place(path))

    def place(self, path: Keys) -> Keys:
        """Path of a setting in the file."""
        return (CONFIG, f"{PREFIX}{path[0]}", *path[1:]) if self.is_stack else path

    def shown(self, path: Keys) -> str:
        """Written form of a setting in the file."""
        return f"{PREFIX if self.is_stack else ''}{show(path)}"

    def settings(self) -> Mapping[str, Any]:
        data = self.data()
        if not self.is_stack:
            return data
        config: Any = data.get(CONFIG)
        if not is_mapping(config):
            return {}
        return {key.removeprefix(PREFIX): value for key, value in config.items() if key.startswith(PREFIX)}

    def carry(self, old: Keys, new: Keys) -> None:
        """Gives a renamed setting, and all below it, the lines of its former name."""
        count = len(old)
        self.lines |= {(*new, *path[count:]): line for path, line in self.lines.items() if path[:count] == old}


def rewritten(files: Mapping[str, str], releases: Sequence[Release], target: Version) -> Rewritten:
    """Settings files (texts by path) as the releases, oldest first, name their settings.

    `target`: version that the files are for. It decides which former names it still reads.
    """
    result = Rewritten()
    for path, text in files.items():
        file = _File(path, text, dict(read_document(text, path).lines))
        for release in releases:
            for change in (*release.renamed, *release.removed):
                for at in list(found(former_keys(change), file.settings())):
                    try:
                        result.rewrites.append(_edit(file, at, change, release))
                    except NotEditable:
                        result.blocked.append(_blocked(file, at, change, release, target))
        if file.text != text:
            result.texts[path] = file.text
    return result


def _edit(file: _File, at: Keys, change: Rename | Removal, release: Release) -> Rewrite:
    """Edits one setting of a file. Raises NotEditable, and the file stays as it is."""
    old, data, line = file.place(at), file.data(), file.line(at)
    if isinstance(change, Removal):
        if not change.cut:
            raise NotEditable
        file.text = yaml_text.without(file.text, old, without(data, old))
        return Rewrite(file.path, line, file.shown(at), None, release.version, change.instead)
    present = renamed(change, at)
    new = file.place(present)
    if is_set(data, new):
        raise NotEditable
    value = _value(data, old)
    converted = change.converted(value)
    file.text = yaml_text.renamed(file.text, old, new, converted, moved(data, change, Place(old, new)))
    file.carry(old, new)
    note = "" if converted == value else f"{value} becomes {converted}"
    return Rewrite(file.path, line, file.shown(at), file.shown(present), release.version, note)


def _value(data: Any, path: Keys) -> Any:
    for key in path:
        data = data[key]
    return data


def _blocked(file: _File, at: Keys, change: Rename | Removal, release: Release, target: Version) -> Blocked:
    line, shown = file.line(at), file.shown(at)
    if isinstance(change, Removal):
        problem = f"Version {release.version} has no setting '{show(at)}'."
        return Blocked(file.path, line, shown, problem, f"{change.instead} Then commit the file.")
    present = renamed(change, at)
    problem, stops = f"Version {release.version} calls it {file.shown(present)}", Version.parse(change.until) <= target
    if is_set(file.data(), file.place(present)):
        fix = "Remove one of them, and commit the file."
        return Blocked(file.path, line, shown, f"{problem}, which the file has, too.", fix, stops=stops)
    fix = f"Write {file.shown(present)} after the upgrade, or each key on a line of its own before it."
    return Blocked(file.path, line, shown, f"{problem}, and a text of this layout is not rewritten.", fix, stops=stops)
