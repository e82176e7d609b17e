"""A report of nvidia-smi as a tree: what both of its forms, text and XML, are read into."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from grid_agent.report.plain import plain

VERSION_FILE = "NVRM version:"
"""How /proc/driver/nvidia/version begins."""


class Unreadable(ValueError):
    """The text is no report, or stops before its end; says which line. Nothing follows from it."""


@dataclass
class Node:
    """A line `name : value`, a section, or an element."""

    name: str
    """In the same spelling for both forms: `SRAM Uncorrectable SEC-DED` is sram_uncorrectable_sec_ded."""
    label: str
    """As it is printed."""
    value: str
    """Empty for a section."""
    line: int
    children: list[Node] = field(default_factory=list["Node"])

    def at(self, *path: str) -> list[Node]:
        """Every node at a path below this one, in the order of the report."""
        found: list[Node] = [self]
        for name in path:
            found = [child for node in found for child in node.children if child.name == name]
        return found

    def below(self) -> Iterator[Node]:
        """All nodes below this one, without recursion: a report may be nested as deep as it likes."""
        waiting = list(reversed(self.children))
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.children))

    @property
    def shown(self) -> str:
        """For messages."""
        return f"line {self.line} is '{plain(self.label, 80)}{f' : {plain(self.value, 120)}' if self.value else ''}'"


@dataclass
class Tree:
    """A report: its head, its GPUs, and what is no part of it."""

    head: Node
    gpus: list[Node]
    remarks: list[str]
    """Lines that belong to no GPU and are no fact, such as warnings."""
    modules: str
    """What follows `NVRM version:` in /proc/driver/nvidia/version after the report; empty where that is missing."""


def named(label: str, value: str, line: int) -> Node:
    """A node with its name in the common spelling."""
    return Node(re.sub(r"[^a-z0-9]+", "_", label.lower()).strip("_"), label, value, line)


def lines_of(text: str) -> list[str]:
    """The lines, by line ends alone: `splitlines` also divides at characters that a name may have."""
    return re.split(r"\r\n|\n|\r", text)


def tail(tree_lines: Iterable[str]) -> tuple[list[str], str]:
    """What follows a report: remarks, and the version of the kernel modules."""
    remarks: list[str] = []
    modules = ""
    for line in tree_lines:
        if line.startswith(VERSION_FILE):
            modules = line[len(VERSION_FILE) :].strip() or modules
        elif line.strip() and not line.startswith("GCC version:"):
            remarks.append(line.strip())
    return remarks, modules
