"""Replacement of the usual line that asks Slurm for the first node's address, `NAME=$(scontrol show hostnames … | head
-n 1)`. The replacement reads an environment variable of the task, which has the address.
"""

from __future__ import annotations

from collections.abc import Sequence

from workbench.osmo.sbatch.reading import Code, code_of
from workbench.osmo.sbatch.report import Report
from workbench.osmo.sbatch.variables import MASTER
from workbench.osmo.shell import Command, Word

_LISTS = ("$SLURM_JOB_NODELIST", "$SLURM_NODELIST", "${SLURM_JOB_NODELIST}", "${SLURM_NODELIST}")
_FIRST = (["head", "-n", "1"], ["head", "-n1"], ["head", "-1"], ["sed", "-n", "1p"], ["awk", "NR==1"])


def with_address(body: Sequence[tuple[int, str]], report: Report) -> Code:
    """Commands of a script, in which the task's variable replaces Slurm's answer as the first node's address.

    Raises `Unreadable` if the script is not complete.
    """
    code = code_of(body)
    pieces: list[str] = []
    at = 0
    for word in _addresses(code):
        report.note(code.line(word.start), f"the address of the first node's task is in {MASTER}: the line reads it")
        pieces += [code.text[at : word.start], f'"${MASTER}"']
        at = word.end
    if not pieces:
        return code
    lines = "".join([*pieces, code.text[at:]]).split("\n")
    return code_of([(number, line) for (number, _), line in zip(body, lines, strict=True)])


def _addresses(code: Code) -> list[Word]:
    return [
        word
        for command in code.commands
        for assignment in command.assignments
        if not assignment.is_list
        for word in assignment.words
        if "\n" not in word.raw and _is_address(word)
    ]


def _is_address(word: Word) -> bool:
    if len(word.expansions) != 1 or word.shown != "_":
        return False
    commands = word.expansions[0].commands
    if len(commands) != 2 or commands[0].after != "|":
        return False
    lists, first = commands
    return _lists_hosts(lists) and [each.value for each in first.words] in _FIRST and not first.redirections


def _lists_hosts(command: Command) -> bool:
    words = [word.raw.strip('"') for word in command.words]
    return (
        words[:2] == ["scontrol", "show"]
        and words[2:3] in (["hostname"], ["hostnames"])
        and (len(words) == 3 or (len(words) == 4 and words[3] in _LISTS))
        and not command.redirections
    )
