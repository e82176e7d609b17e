"""Edits of YAML texts that keep comments, order and layout.

An edit is made in the text itself. It is given up, and the caller told, where the text's layout is one that the edit
does not know, or where the edited text would not have exactly the data that is wanted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import yaml

from physical_ai.nested import is_mapping
from physical_ai.settings.layers.document import read_document
from physical_ai.untrusted import documents

Keys = tuple[str, ...]
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_.:/-]*(?<!:)")
"""Keys and texts that need no quotes. Words such as `true` need them, and are excluded apart."""
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off"})
STEP = 2
"""Columns by which a new section is indented."""
WIDTH = 110
"""Columns of a new value before it is continued on another line."""


class NotEditable(Exception):
    """Error for a text whose layout an edit does not know."""


@dataclass(frozen=True)
class _Pair:
    """Key and value of a mapping, and the mapping."""

    parent: yaml.MappingNode
    key: yaml.Node
    value: yaml.Node

    @property
    def is_block(self) -> bool:
        return not self.parent.flow_style

    @property
    def line(self) -> int:
        return self.key.start_mark.line

    @property
    def column(self) -> int:
        return self.key.start_mark.column


def renamed(text: str, old: Keys, new: Keys, value: Any, wanted: Mapping[str, Any]) -> str:
    """Text with the key `new` in place of the key `old`.

    Raises NotEditable.

    Args:
        value: Value of the new key.
        wanted: Data that the new text has to have.
    """
    written = None if json.dumps(value) == json.dumps(_data(text, old)) else _scalar(value)
    if old[:-1] == new[:-1]:
        return _verified(_in_place(text, old, new[-1], written), wanted)
    lines = _moved_lines(text, _pair(text, old), new[-1], written)
    return _verified(_inserted(_cut(text, old), new, lines), wanted)


def with_value(text: str, path: Keys, value: Any, wanted: Mapping[str, Any]) -> str:
    """Text with a value at a path. A scalar takes the place of a scalar; another value is written at the end of its
    section. Raises NotEditable.

    `wanted`: data that the new text has to have.
    """
    try:
        present = _pair(text, path)
    except NotEditable:
        present = None
    if present is not None and isinstance(present.value, yaml.ScalarNode) and not isinstance(value, Mapping | list):
        return _verified(_replaced(text, present.value, _scalar(value)), wanted)
    lines = _pair_lines(path[-1], value)
    return _verified(_inserted(text if present is None else _cut(text, path), path, lines), wanted)


def _pair_lines(key: str, value: Any) -> list[str]:
    """Lines of a new pair, as in a block mapping without indentation. The innermost maps and lists are in one line."""
    if not isinstance(value, Mapping | list):
        return [f"{_scalar(key)}: {_scalar(value)}"]
    dumped = yaml.safe_dump({key: value}, sort_keys=False, default_flow_style=None, allow_unicode=True, width=WIDTH)
    return dumped.rstrip("\n").split("\n")


def without(text: str, path: Keys, wanted: Mapping[str, Any]) -> str:
    """Text without the key at a path, and without its comment lines. Raises NotEditable.

    `wanted`: data that the new text has to have.
    """
    return _verified(_cut(text, path), wanted)


def _verified(text: str, wanted: Mapping[str, Any]) -> str:
    document = read_document(text, "")
    if document.faults or document.data != wanted:
        raise NotEditable
    return text


def _in_place(text: str, path: Keys, key: str, written: str | None) -> str:
    """Text with another key, and another scalar as its value unless `written` is None."""
    pair = _pair(text, path)
    if written is not None:
        text = _replaced(text, pair.value, written)
    return _replaced(text, pair.key, _scalar(key))


def _replaced(text: str, node: yaml.Node, by: str) -> str:
    lines = text.split("\n")
    start, end = node.start_mark, node.end_mark
    if start.line != end.line or not isinstance(node, yaml.ScalarNode):
        raise NotEditable
    line = lines[start.line]
    lines[start.line] = f"{line[: start.column]}{by}{line[end.column :]}"
    return "\n".join(lines)


def _moved_lines(text: str, pair: _Pair, key: str, written: str | None) -> list[str]:
    """Lines of a pair with another key, as in a block mapping without indentation, with the comment lines above it.

    `written`: text of another scalar as its value; None for the same value.
    """
    lines, last, end = text.split("\n"), _last_line(pair.value), pair.value.end_mark.column
    is_one_line = pair.line == last
    if not is_one_line and (written is not None or not pair.is_block):
        raise NotEditable
    first = lines[pair.line]
    if not pair.is_block:
        return [f"{_scalar(key)}: {written or first[pair.value.start_mark.column : end]}"]
    rest = first[pair.key.end_mark.column :] if written is None else f": {written}{first[end:]}"
    above = lines[_first_comment(lines, pair) : pair.line]
    moved = [*above, first[: pair.column] + _scalar(key) + rest, *lines[pair.line + 1 : last + 1]]
    return [_dedented(each, pair.column) for each in moved]


def _dedented(line: str, columns: int) -> str:
    if line[:columns].strip():
        raise NotEditable
    return line[columns:]


def _first_comment(lines: list[str], pair: _Pair) -> int:
    """Number of the first of the comment lines directly above a pair, with the pair's indentation. Comments at the
    start of the file are about the file.
    """
    first = pair.line
    start = f"{' ' * pair.column}#"
    while first and lines[first - 1].startswith(start):
        first -= 1
    return first or pair.line


def _cut(text: str, path: Keys) -> str:
    """Text without a pair, and without the sections that become empty."""
    pair = _pair(text, path)
    if len(pair.parent.value) == 1 and len(path) > 1:
        return _cut(text, path[:-1])
    lines = text.split("\n")
    last = _last_line(pair.value)
    if pair.is_block:
        if lines[pair.line][: pair.column].strip():  # behind the dash of a list
            raise NotEditable
        del lines[_first_comment(lines, pair) : last + 1]
        return "\n".join(lines)
    if pair.line != last:
        raise NotEditable
    line = lines[last]
    before, after = line[: pair.column], line[pair.value.end_mark.column :]
    if (comma := re.match(r"\s*,\s*", after)) is not None:
        after = after[comma.end() :]
    else:
        before = re.sub(r",\s*$", "", before)
    lines[last] = before + after
    return "\n".join(lines)


def _inserted(text: str, path: Keys, lines: list[str]) -> str:
    """Text with the lines of a pair at a path; sections that are missing are written."""
    node, depth = _deepest(text, path[:-1])
    missing = path[depth:-1]
    if node is None:
        return _joined(text, len(text.split("\n")) - 1, _nested(missing, lines, 0))
    if node.flow_style:
        return _into_flow(text, node, missing, lines)
    last = max(_last_line(value) for _, value in cast("list[tuple[yaml.Node, yaml.Node]]", node.value))
    return _joined(text, last, _nested(missing, lines, node.start_mark.column))


def _joined(text: str, last: int, added: list[str]) -> str:
    lines = text.split("\n")
    at = last if last == len(lines) - 1 and not lines[last] else last + 1
    return "\n".join([*lines[:at], *added, *lines[at:]])


def _nested(sections: Keys, lines: list[str], column: int) -> list[str]:
    heads = [f"{' ' * (column + STEP * depth)}{_scalar(each)}:" for depth, each in enumerate(sections)]
    indent = " " * (column + STEP * len(sections))
    return [*heads, *(f"{indent}{each}" if each else each for each in lines)]


def _into_flow(text: str, node: yaml.MappingNode, missing: Keys, lines: list[str]) -> str:
    if len(lines) != 1 or " #" in lines[0]:
        raise NotEditable
    inner = lines[0]
    for each in reversed(missing):
        inner = f"{_scalar(each)}: {{{inner}}}"
    all_lines, mark = text.split("\n"), node.end_mark
    line = all_lines[mark.line]
    before = line[: mark.column - 1].rstrip()
    comma = ", " if node.value else ""
    all_lines[mark.line] = f"{before}{comma}{inner}{line[mark.column - 1 :]}"
    return "\n".join(all_lines)


def _deepest(text: str, path: Keys) -> tuple[yaml.MappingNode | None, int]:
    """The mapping at the longest existing part of a path, and the length of this part; None for an empty text."""
    node: Any = documents.compose(text)
    for depth, key in enumerate(path):
        if not isinstance(node, yaml.MappingNode):
            break
        inner = next((value for each, value in _pairs(node) if each.value == key), None)
        if inner is None:
            return node, depth
        node = inner
    else:
        depth = len(path)
    if node is not None and not isinstance(node, yaml.MappingNode):
        raise NotEditable
    return node, depth


def _pair(text: str, path: Keys) -> _Pair:
    parent, depth = _deepest(text, path[:-1])
    if parent is None or depth != len(path) - 1:
        raise NotEditable
    for key, value in _pairs(parent):
        if key.value == path[-1]:
            return _Pair(parent, key, value)
    raise NotEditable


def _pairs(node: yaml.MappingNode) -> list[tuple[yaml.Node, yaml.Node]]:
    return node.value


def _last_line(node: yaml.Node) -> int:
    """Number of the last line that a node has text on. The end of a block in the parser is the start of what follows,
    beyond comments and blank lines.
    """
    if isinstance(node, yaml.MappingNode) and not node.flow_style and node.value:
        return _last_line(_pairs(node)[-1][1])
    if isinstance(node, yaml.SequenceNode) and not node.flow_style and node.value:
        return _last_line(cast("list[yaml.Node]", node.value)[-1])
    if isinstance(node, yaml.ScalarNode) and node.style in ("|", ">"):
        return max(node.start_mark.line, node.end_mark.line - (0 if node.end_mark.column else 1))
    return node.end_mark.line


def _data(text: str, path: Keys) -> Any:
    value: Any = read_document(text, "").data
    for key in path:
        value = value[key]
    return value


def _scalar(value: Any) -> str:
    """Text of a scalar in YAML."""
    if is_mapping(value) or isinstance(value, list):
        raise NotEditable
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    return json.dumps(value, ensure_ascii=False)
