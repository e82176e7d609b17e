"""Reading of a YAML file into plain data, with the line of every value.

Types are JSON's, by the core rules of YAML 1.2, which the Pulumi CLI follows too: `yes` is a string, `12:30` is not a
number, a date is a string. Syntax that other parsers may read differently is rejected: duplicate keys, anchors, merge
keys and tags.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, cast

import yaml

from physical_ai.findings import Severity
from physical_ai.settings.faults import Fault, fault
from physical_ai.settings.guards import is_map
from physical_ai.settings.layers.paths import Path, show
from physical_ai.untrusted import documents
from physical_ai.untrusted.syntax_errors import meaning

_INT = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+\.[0-9]*)([eE][-+]?[0-9]+)?")
_NULL = ("", "~", "null", "Null", "NULL")
_BOOL = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_CORE = "tag:yaml.org,2002:"
_TAGS: Mapping[type[yaml.Node], frozenset[str]] = {
    yaml.ScalarNode: frozenset(
        f"{_CORE}{name}" for name in ("str", "int", "float", "bool", "null", "timestamp", "value")
    ),
    yaml.MappingNode: frozenset({f"{_CORE}map"}),
    yaml.SequenceNode: frozenset({f"{_CORE}seq"}),
}
"""YAML tags that are accepted, by the kind of node. They are tags that YAML itself gives to nodes without a written
tag, or tags that change nothing when they are written.
"""
_PLAIN = "Write a plain value."
_DEEPEST = 32
_LONGEST_NUMBER = 300


@dataclass
class Document:
    """Content of a YAML file: its data, the line of each value, and, in `faults`, the parts that cannot be read."""

    label: str
    data: dict[str, Any] = field(default_factory=dict[str, Any])
    lines: dict[Path, int] = field(default_factory=dict[Path, int])
    faults: list[Fault] = field(default_factory=list[Fault])
    below: Document | None = None
    """Document of the file that this file overrides: `data` contains its values where this file does not set them. None
    if there is no such file.
    """

    def fault(self, path: Path, problem: str, fix: str | None = None, *, severity: Severity = Severity.ERROR) -> Fault:
        """A fault at a path, with the file that sets it and the line."""
        if self.below is not None and _known(self.below.lines, path) > _known(self.lines, path):
            return self.below.fault(path, problem, fix, severity=severity)
        return fault(self.label, show(path), problem, fix, severity=severity, line=nearest_line(self.lines, path))


def _known(lines: Mapping[Path, int], path: Path) -> int:
    """Number of leading steps of `path` that exist in the file; 0 if none does."""
    return next((n for n in range(len(path), 0, -1) if path[:n] in lines), 0)


def nearest_line(lines: Mapping[Path, int], path: Path) -> int | None:
    """Line of a path, or of the nearest section around it; None if neither line is known."""
    return next((lines[path[:n]] for n in range(len(path), 0, -1) if path[:n] in lines), None)


def read_document(text: str, label: str) -> Document:
    """Document with the mapping in a YAML text; an empty text is an empty mapping."""
    read = _read(text, label)
    return Document(label, _copy(read.data), dict(read.lines), list(read.faults))


def _copy(value: Any) -> Any:
    """Copy of a value from `_Reader`, so that callers may change it."""
    if isinstance(value, dict):
        return {key: _copy(item) for key, item in cast("dict[str, Any]", value).items()}
    return [_copy(item) for item in cast("list[Any]", value)] if isinstance(value, list) else value


@lru_cache(256)
def _read(text: str, label: str) -> Document:
    """Document of a text. Each text is parsed only once, so a command over all stacks parses their common layers and
    values only once.
    """
    document = Document(label)
    try:
        node = documents.compose(text)
    except documents.LimitExceeded as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        problem = f"{error.message[:1].upper()}{error.message[1:]}."
        document.faults.append(fault(label, "(file)", problem, "Write each value out, and only once.", line=line))
        return document
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        problem = f"This is not YAML: {meaning(error)}."
        document.faults.append(fault(label, "(file)", problem, _hint(text, line), line=line))
        return document
    except yaml.YAMLError as error:
        document.faults.append(fault(label, "(file)", f"This is not YAML: {meaning(error)}."))
        return document
    if node is None:
        return document
    value = _Reader(document).value(node, ())
    if is_map(value):
        document.data = value
    elif value is not None and not document.faults:
        problem = "The file must hold a mapping of settings."
        document.faults.append(fault(label, "(file)", problem, "Write it like: pools: {...}", line=1))
    return document


def plain(value: Any, path: Path, label: str, faults: list[Fault]) -> Any:
    """Decoded value as JSON-like data; a part without a JSON form becomes a fault."""
    if len(path) > _DEEPEST:
        faults.append(fault(label, show(path), "This is nested too deeply.", "No setting is nested that deeply."))
    elif isinstance(value, Mapping):
        found: dict[str, Any] = {}
        for key, item in cast("Mapping[Any, Any]", value).items():
            if isinstance(key, str) and _is_text(key):
                found[key] = plain(item, (*path, key), label, faults)
            else:
                _invalid_key(label, show(path) or "(top level)", repr(key), faults)
        return found
    elif isinstance(value, (list, tuple)):
        return [plain(item, (*path, i), label, faults) for i, item in enumerate(cast("Sequence[Any]", value))]
    elif value is None or _is_scalar(value):
        return value
    else:
        faults.append(fault(label, show(path), f"{_short(repr(value))} is not a valid value of a setting."))
    return None


def _is_scalar(value: Any) -> bool:
    if isinstance(value, str):
        return _is_text(value)
    return isinstance(value, (bool, int, float)) and math.isfinite(value) and abs(value) < 10**_LONGEST_NUMBER


class _Reader:
    """Converter of composed YAML nodes to data."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._seen: set[int] = set()

    def value(self, node: yaml.Node, path: Path) -> Any:
        line = node.start_mark.line + 1
        self._document.lines[path] = line
        if id(node) in self._seen:
            return self._refuse(path, line, "Anchors and aliases (& and *) are not supported.", "Repeat the value.")
        self._seen.add(id(node))
        if len(path) > _DEEPEST:
            return self._refuse(path, line, "This is nested too deeply.", "No setting is nested that deeply.")
        if node.tag not in _TAGS[type(node)]:
            tag = node.tag.removeprefix(_CORE)
            return self._refuse(path, line, f"The YAML tag '{tag}' is not supported.", _PLAIN)
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            items: list[yaml.Node] = node.value
            return [self.value(item, (*path, index)) for index, item in enumerate(items)]
        return self._scalar(node, path, line)

    def _scalar(self, node: yaml.Node, path: Path, line: int) -> Any:
        text: str = node.value
        if not _is_text(text):
            return self._refuse(path, line, "This text has characters that are not Unicode.", None)
        is_plain = getattr(node, "style", None) in (None, "")
        if not is_plain and node.tag != f"{_CORE}str":
            return self._refuse(path, line, f"The YAML tag '{node.tag.removeprefix(_CORE)}' is not supported.", _PLAIN)
        return _core(text) if is_plain and (node.tag != "tag:yaml.org,2002:str") else text

    def _mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, Any]:
        found: dict[str, Any] = {}
        first: dict[str, int] = {}
        pairs: list[tuple[yaml.Node, yaml.Node]] = node.value
        for key_node, value_node in pairs:
            line = key_node.start_mark.line + 1
            key: Any = key_node.value
            if not isinstance(key_node, yaml.ScalarNode) or key_node.tag == "tag:yaml.org,2002:merge":
                problem = "Merge keys (<<) are not supported." if key == "<<" else "A key must be text."
                self._refuse(path, line, problem, "Write the keys out.")
                continue
            if key_node.tag not in _TAGS[yaml.ScalarNode]:
                self._refuse(path, line, f"The YAML tag '{key_node.tag}' is not supported.", "Write a plain key.")
                continue
            if not isinstance(key, str) or not _is_text(key) or not isinstance(self._key(key_node), str):
                _invalid_key(self._document.label, show(path) or "(top level)", str(key), self._document.faults, line)
                continue
            setting = (*path, key)
            if key in first:
                problem = f"'{key}' is a duplicate key, first on line {first[key]}."
                self._refuse(setting, line, problem, "Keep one of them, or give one another name.")
                continue
            first[key] = line
            found[key] = self.value(value_node, setting)
            self._document.lines[setting] = line
        return found

    @staticmethod
    def _key(node: yaml.ScalarNode) -> Any:
        text: str = node.value
        return text if node.style in {"'", '"'} else _core(text)

    def _refuse(self, path: Path, line: int, problem: str, fix: str | None) -> None:
        place = show(path) or "(top level)"
        self._document.faults.append(fault(self._document.label, place, problem, fix, line=line))


def _core(text: str) -> Any:
    """Value of a plain scalar by YAML 1.2's core schema, without octal, hexadecimal, infinity and not-a-number."""
    if text in _NULL:
        return None
    if text in _BOOL:
        return _BOOL[text]
    if len(text) > _LONGEST_NUMBER:
        return text
    if _INT.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text) and math.isfinite(number := float(text)):
        return number
    return text


def _is_text(text: str) -> bool:
    """True for a text without lone surrogates, which no file and no API can contain."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def _invalid_key(label: str, place: str, key: str, faults: list[Fault], line: int | None = None) -> None:
    faults.append(fault(label, place, f"The key {_short(key)} is not text.", "Put it in quotes.", line=line))


def _hint(text: str, line: int | None) -> str | None:
    """Usual cause of a syntax error, if the error's line shows one; None if the line shows no known cause."""
    lines = text.splitlines()
    near = lines[line - 1] if line and line <= len(lines) else ""
    if "\t" in near:
        return "YAML is indented with spaces, never with tabs."
    return f"Near: {_short(near.strip())}" if near.strip() else None


def _short(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:77]}..."
