"""Mapping from a path in the rendered workflow to a line and column of the file, and the findings about the file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from physical_ai.findings import Severity
from physical_ai.untrusted import documents
from workbench.osmo.lint.finding import Path, Rule, WorkflowFinding

_ALLOW = re.compile(r"#\s*physai-lint:\s*allow\s+([a-z0-9-]+(?:\s*,\s*[a-z0-9-]+)*)")

_SHORTEST_PART = 3
"""Smallest number of characters of a text for which `field_of` also finds values that only contain the text."""
LONGEST_MESSAGE = 1000
"""Largest number of characters of a finding's message, path or fix."""


@dataclass
class Source:
    """A workflow file with its rendered workflow section and its findings."""

    file: str
    text: str
    rendered: str = ""
    lines: tuple[int, ...] = ()
    """Line number in the file, from 0, of each rendered line."""
    findings: list[WorkflowFinding] = field(default_factory=list[WorkflowFinding])
    _root: yaml.Node | None = None

    def __post_init__(self) -> None:
        self._written = self.text.split("\n")
        self._shown = self.rendered.split("\n")
        self._reported: set[tuple[str, int, int, str, str | None]] = set()

    def composed(self, rendered: str, lines: tuple[int, ...]) -> None:
        """Sets the rendered section. After this, paths in the rendered section can be mapped to lines of the file."""
        self.rendered, self.lines = rendered, lines
        self._shown = rendered.split("\n")
        try:
            self._root = documents.compose_for_python(rendered)
        except yaml.YAMLError:
            self._root = None

    def add(
        self,
        rule: Rule,
        place: Path | tuple[int, int],
        message: str,
        fix: str | None = None,
        severity: Severity | None = None,
    ) -> None:
        """Adds a finding at a path of the workflow, or at a line and column of the file, both counted from 1.

        `severity` is used instead of the rule's severity.

        A comment on the line, or on a line just above it, suppresses rules: `# physai-lint: allow image-digest`.
        """
        line, column = self.position(place)
        message, where = shortened(message), ".".join(map(str, place)) if isinstance(place[0], str) else ""
        # A loop in the template gives the same line several paths.
        same = (rule.id, line, column, message, fix)
        if same in self._reported or (rule.can_be_allowed and rule.id in self._allowed(line)):
            return
        self._reported.add(same)
        self.findings.append(
            WorkflowFinding(
                severity or rule.severity,
                rule.id,
                shortened(where),
                message,
                shortened(fix or rule.fix),
                rule.source,
                file=self.file,
                line=line,
                column=column,
                title=rule.title,
                reason=rule.reason,
            )
        )

    def position(self, place: Path | tuple[int, int]) -> tuple[int, int]:
        """Line and column in the file, from 1. `place` is a path in the document, or already a line and a column."""
        if len(place) == 2 and isinstance(place[0], int):
            return int(place[0]), int(place[1])
        node = self._find(tuple(place))
        if node is None:
            return (self.lines[0] + 1 if self.lines else 1), 1
        return self.in_file(node.start_mark.line, node.start_mark.column)

    def in_file(self, line: int, column: int) -> tuple[int, int]:
        """Line and column in the file, from 1, of a position in the rendered section, from 0.

        If rendering has changed the part of the line before `column`, the result is the line's first character.
        """
        number = self.lines[min(line, len(self.lines) - 1)] if self.lines else 0
        written = self._written[number] if number < len(self._written) else ""
        shown = self._shown[line] if line < len(self._shown) else ""
        if written[:column] != shown[:column]:
            column = len(written) - len(written.lstrip())
        return number + 1, column + 1

    def duplicates(self) -> Iterator[tuple[str, tuple[int, int]]]:
        """Duplicate keys of maps, each with the position of the second occurrence."""
        todo: list[yaml.Node] = [self._root] if self._root is not None else []
        while todo:
            node = todo.pop()
            if isinstance(node, yaml.MappingNode):
                seen: set[Any] = set()
                for key, value in node.value:
                    if isinstance(key, yaml.ScalarNode):
                        if key.value in seen:
                            yield key.value, self.in_file(key.start_mark.line, key.start_mark.column)
                        seen.add(key.value)
                    todo.append(value)
            elif isinstance(node, yaml.SequenceNode):
                todo.extend(node.value)

    def _find(self, path: Path) -> yaml.Node | None:
        """YAML node of the key or item at a path, or of the longest part of the path that exists. None if the file is
        empty or not YAML.
        """
        here, found = self._root, self._root
        for step in path:
            next_ = _below(here, step)
            if next_ is None:
                break
            found, here = next_
        return found

    def has(self, path: Path) -> bool:
        """True if the rendered section has a field at the path."""
        here: yaml.Node | None = self._root
        for step in path:
            found = _below(here, step)
            here = found[1] if found else None
        return here is not None

    def field_of(self, base: Path, text: str) -> Path | None:
        """Path of a field below `base` whose name or value equals `text` or, if there is none, whose name or value
        contains `text`. None if no field does.
        """
        here: yaml.Node | None = self._root
        for step in base:
            found = _below(here, step)
            here = found[1] if found else None
        containing: Path | None = None
        for path, value in _fields(here, base):
            if value == text and len(text) > 1:
                return path
            if containing is None and len(text) >= _SHORTEST_PART and text in value:
                containing = path
        return containing

    def _allowed(self, line: int) -> set[str]:
        """Ids of rules that comments suppress for a line: comments on the line, and comment lines just above it."""
        texts = [self._written[line - 1]] if 0 < line <= len(self._written) else []
        above = line - 2
        while above >= 0 and self._written[above].lstrip().startswith("#"):
            texts.append(self._written[above])
            above -= 1
        found = [match[1] for text in texts for match in _ALLOW.finditer(text)]
        return {name.strip() for names in found for name in names.split(",")}


def _fields(root: yaml.Node | None, base: Path) -> Iterator[tuple[Path, str]]:
    """Pairs of a path and a text for all fields below a YAML node: one pair with the field's key, and one with the
    field's value unless the value is a map or list.
    """
    todo: list[tuple[Path, yaml.Node]] = [(base, root)] if root is not None else []
    seen: set[int] = set()
    while todo:
        path, node = todo.pop()
        if isinstance(node, yaml.ScalarNode):
            yield path, node.value
        elif id(node) not in seen:
            seen.add(id(node))
            below: list[tuple[Path, yaml.Node]] = []
            if isinstance(node, yaml.MappingNode):
                plain = [(key.value, value) for key, value in node.value if isinstance(key, yaml.ScalarNode)]
                yield from (((*path, key), key) for key, _ in plain)
                below = [((*path, key), value) for key, value in plain]
            elif isinstance(node, yaml.SequenceNode):
                below = [((*path, index), value) for index, value in enumerate(node.value)]
            todo += reversed(below)


def shortened(text: str) -> str:
    """A text cut to the maximum length of a message, because messages quote texts of any length from the file."""
    return text if len(text) <= LONGEST_MESSAGE else f"{text[:LONGEST_MESSAGE]}…"


def _below(node: yaml.Node | None, step: str | int) -> tuple[yaml.Node, yaml.Node] | None:
    """YAML nodes of the key and of the value at `step` in a map; the same node twice for an item of a list. None if the
    map or list has no such step.
    """
    if isinstance(node, yaml.MappingNode):
        # Of duplicate keys, YAML readers use the last.
        for key, value in reversed(node.value):
            if isinstance(key, yaml.ScalarNode) and key.value == str(step):
                return key, value
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        return node.value[step], node.value[step]
    return None
