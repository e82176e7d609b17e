"""Search for calculations with the job's number. Such a calculation fails in an OSMO task, where the workflow's id
replaces the number and is no number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench.osmo.sbatch.reading import Code
from workbench.osmo.shell import Command, Expansion

_NAMES = re.compile(r"[A-Za-z_]\w*")
_IDS = ("SLURM_JOB_ID", "SLURM_JOBID")
_COMPUTES = ("let", "expr", "[", "test", "[[")
_COMPARES = ("-eq", "-ne", "-lt", "-le", "-gt", "-ge")
_KEEPS = (":-", "-", ":=", "=", ":?", "?")


def computed(code: Code) -> Iterator[tuple[int, str]]:
    """Offset and text of each place where the script calculates with the job's number, or cuts a part out of it."""
    names = _names(code)
    for command in code.commands:
        for expansion in command.expansions():
            if _computes(expansion, names):
                sign = {"command": "", "arithmetic": "$(("}.get(expansion.kind, "$")
                end = "))" if expansion.kind == "arithmetic" else ""
                yield command.start, f"{sign}{expansion.text}{expansion.operator}{end}"
        used = {each.text for each in command.expansions()}
        if command.name == "let":
            used.update(name for word in command.words[1:] for name in _NAMES.findall(word.raw))
        if _is_comparison(command) and not names.isdisjoint(used):
            yield command.start, " ".join(word.raw for word in command.words)


def _names(code: Code) -> frozenset[str]:
    """Variables whose value is exactly the job's number. A value that only contains the number, such as a path, does
    not count.
    """
    copies: dict[str, set[str]] = {}
    for name, assignments in code.assigned.items():
        for word in (each for assignment in assignments for each in assignment.words):
            if len(word.expansions) == 1 and not word.shown.strip("_") and word.expansions[0].kind == "variable":
                copies.setdefault(word.expansions[0].text, set()).add(name)
    found: set[str] = set(_IDS)
    todo: list[str] = list(_IDS)
    while todo:
        new = copies.get(todo.pop(), set()) - found
        found |= new
        todo += new
    return frozenset(found)


def _is_comparison(command: Command) -> bool:
    if command.name in ("let", "expr"):
        return True
    return command.name in _COMPUTES and any(word.raw in _COMPARES for word in command.words)


def _computes(expansion: Expansion, names: frozenset[str]) -> bool:
    if expansion.kind == "variable":
        cuts = bool(expansion.operator) and not expansion.operator.startswith((*_KEEPS, "["))
        return (cuts and expansion.text in names) or any(_computes(each, names) for each in expansion.inner)
    return any(each.kind == "variable" and each.text in names for each in expansion.every())
