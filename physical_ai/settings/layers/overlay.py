"""Settings from the command line (`-f FILE` and `--set path=value`), which override a stack's files."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

from physical_ai.catalog import nearest
from physical_ai.settings.faults import Fault, SettingsError, fault
from physical_ai.settings.guards import is_map
from physical_ai.settings.layers.document import Document, read_document
from physical_ai.settings.layers.examples import example, written
from physical_ai.settings.layers.paths import NotAPath, Path, parse, show
from physical_ai.settings.layers.shape import shape_at
from physical_ai.untrusted import files

SET = "--set"


@dataclass(frozen=True)
class Overlay:
    """Settings that the command line lays over a stack's own settings, in the form of a layer file."""

    label: str
    """Name in messages: the file's name, or `--set`."""
    data: Mapping[str, Any]
    lines: Mapping[Path, int] = field(default_factory=dict[Path, int])

    @staticmethod
    def read(file: FilePath | str) -> Overlay:
        """An overlay from a YAML file shaped like a layer. Raises SettingsError when it can't be read."""
        document = read_file(FilePath(file), str(file))
        if document.faults:
            raise SettingsError(document.faults)
        return Overlay(str(file), document.data, document.lines)

    @staticmethod
    def assign(assignments: Sequence[str]) -> Overlay:
        """A single overlay from `path=value` texts, in which values are YAML.

        A later text overrides an earlier one. Raises SettingsError.
        """
        data: dict[str, Any] = {}
        faults: list[Fault] = []
        for assignment in assignments:
            faults += _assign(data, assignment)
        if faults:
            raise SettingsError(faults)
        return Overlay(SET, data)


def read_file(file: FilePath, label: str) -> Document:
    """Parsed content of a YAML file; if the file is missing or unusable, a document with a fault and no data."""
    fix: str | None = None
    try:
        return read_document(files.read_text(file), label)
    except files.Missing:
        problem, fix = "The file does not exist.", _elsewhere(file, label)
    except files.NotText:
        problem, fix = "The file is not UTF-8 text.", "Save it as UTF-8."
    except files.Unreadable as error:
        problem = f"{str(error)[:1].upper()}{str(error)[1:]}."
        fix = "Name a YAML file in the form of a layer, like stacks/layers/env/dev.yaml."
    return Document(label, faults=[fault(label, "(file)", problem, fix)])


def _elsewhere(file: FilePath, label: str) -> str:
    """Advice about a missing file: the file's full path, unless the message already shows it as `label`. Otherwise a
    file with a similar name, or the folder at which relative paths begin.
    """
    if str(file) != label:
        return f"Path: {file}."
    beside = {str(each): each.name for each in file.parent.glob("*.y*ml")}
    near = nearest(file.name, beside.values())
    meant = next((path for path, name in beside.items() if name == near), None)
    relative = "" if file.is_absolute() else f"Relative paths begin at {FilePath.cwd()}."
    return f"Did you mean '{meant}'?  {relative}".strip() if meant else relative or "Correct the path."


def _assign(data: dict[str, Any], assignment: str) -> list[Fault]:
    path_text, equals, value_text = _halves(assignment)
    try:
        path = parse(path_text)
    except NotAPath as error:
        return [fault(SET, path_text, str(error), error.fix)]
    if not equals or not path:
        return [fault(SET, assignment or "(empty)", "An assignment is path=value.", "Like pools.h100gpu.scale.max=3")]
    if any(isinstance(step, int) for step in path):
        whole = path[: next(index for index, step in enumerate(path) if isinstance(step, int))]
        return [fault(SET, show(path), "An item of a list can't be set alone.", f"Set the list: {_like(whole)}")]
    document = read_document(f"value: {value_text}", SET)
    if document.faults:
        advice = f"The value is YAML; the shell needs quotes around the assignment, like {_like(path)}"
        return [fault(SET, show(path), each.problem, each.fix or advice) for each in document.faults]
    *parents, last = (str(step) for step in path)
    holder = data
    for step in parents:
        inner = holder.get(step)
        if not is_map(inner):
            inner = holder[step] = dict[str, Any]()
        holder = inner
    value, shape = document.data.get("value"), shape_at(path)
    # `--set cluster.kubernetesVersion=1.36` means a text: the shell has already removed quotes.
    takes_text = shape is not None and shape.type is str and isinstance(value, (bool, int, float))
    holder[last] = value_text.strip() if takes_text else value
    return []


def _like(path: Path) -> str:
    """Example of an assignment to a path, quoted for a shell."""
    value = example(path)
    text = written("…" if value is None else value)
    return f"--set {shlex.quote(f'{show(path)}={text}')}"


def _halves(assignment: str) -> tuple[str, str, str]:
    """Splits an assignment at its first equals sign outside quotes: path, equals sign, value."""
    quoted = False
    for index, character in enumerate(assignment):
        if character == '"' and assignment[index - 1] != "\\":
            quoted = not quoted
        if character == "=" and not quoted:
            return assignment[:index], "=", assignment[index + 1 :]
    return assignment, "", ""
