"""`nvidia-smi -q`: indented `Name : value` lines below section lines. Pure.

A line belongs to the nearest line above it that is indented less, so that `ECC Errors` of a MIG device is never taken
for that of its GPU. nvidia-smi prints names of processes as they are, line ends included (seen with 580.159.04), so
what follows a section `Processes` in a GPU is not read.
"""

from __future__ import annotations

import re

from grid_agent.report.tree import Node, Tree, Unreadable, lines_of, named, tail

_GPU = re.compile(r"GPU ([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f])\s*")
_FACT = re.compile(r"(\S.*?)\s*:(?:\s+(.*))?")
_BANNER = re.compile(r"=+NVSMI LOG=+")
_HEAD = ("timestamp", "driver_version", "cuda_version", "kmd_version", "cuda_umd_version", "attached_gpus")
_UNREAD = "processes"


def read_text(text: str) -> Tree:
    """The tree of a report and of what follows it.

    Raises:
        Unreadable: there is no head of a report.
    """
    head, gpus = Node("", "", "", 0), list[Node]()
    loose: list[str] = []
    stack: list[tuple[int, Node]] = []
    unread = -1
    for number, raw in enumerate(lines_of(text), 1):
        line = raw.expandtabs(8).rstrip()
        depth = len(line) - len(line.lstrip(" "))
        if not line.strip():
            continue
        if depth == 0:
            unread, stack = -1, []
            if (gpu := _GPU.fullmatch(line)) is not None:
                gpus.append(Node("gpu", gpu[1], "", number))
                stack = [(0, gpus[-1])]
            elif not _BANNER.fullmatch(line.strip()) and not _is_head(head, line, number):
                loose.append(line)
            continue
        while stack and stack[-1][0] >= depth:
            stack.pop()
        if not stack or unread >= 0:
            continue  # below a line that is no fact, or a name of a process
        found = _FACT.fullmatch(line.strip())
        node = named(found[1], (found[2] or "").strip(), number) if found else named(line.strip(), "", number)
        if node.name == _UNREAD and not node.value and len(stack) == 1:
            unread = depth
        stack[-1][1].children.append(node)
        stack.append((depth, node))
    if not head.children:
        raise Unreadable("there is no report")
    remarks, modules = tail(loose)
    return Tree(head, gpus, remarks, modules)


def _is_head(head: Node, line: str, number: int) -> bool:
    """Whether a line is one of the report's own facts, which is kept then."""
    found = _FACT.fullmatch(line)
    node = named(found[1], (found[2] or "").strip(), number) if found else None
    if node is None:
        return False
    # In the guest of some hypervisors: `Attached vGPUs`.
    node.name = node.name.replace("attached_vgpus", "attached_gpus")
    if node.name not in _HEAD:
        return False
    head.children.append(node)
    return True
