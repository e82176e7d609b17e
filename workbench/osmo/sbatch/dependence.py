"""Search for parts of a script whose values differ between the nodes that run it.

`sbatch` runs a script only on the job's first node; in the workflow, the task of each node runs it. A value that the
script computes from its node, from chance or from the time is the same for all nodes of a Slurm job, and different for
each task: a rendezvous at `$(hostname)` would make each node wait for itself. The command of a step is not affected,
since `srun` runs it on each node, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from workbench.osmo.sbatch.programs import SAYING, SLURM
from workbench.osmo.sbatch.reading import Code
from workbench.osmo.sbatch.variables import MASTER
from workbench.osmo.shell import Command, Expansion, Word

_OWN = {
    **dict.fromkeys(("HOSTNAME", "HOST", "NODENAME", "SLURMD_NODENAME", "SLURM_TOPOLOGY_ADDR"), "the node's name"),
    **dict.fromkeys(("SLURM_NODEID", "SLURM_PROCID", "SLURM_LOCALID", "SLURM_GTIDS"), "the node's number"),
    **dict.fromkeys(("RANDOM", "SRANDOM"), "chance"),
    **dict.fromkeys(("$", "!", "BASHPID", "PPID"), "the process"),
    **dict.fromkeys(("SECONDS", "EPOCHSECONDS", "EPOCHREALTIME"), "the time"),
}
_SAME = frozenset(
    {
        *("[", "awk", "basename", "bc", "cat", "cut", "dirname", "echo", "egrep", "eval", "expr"),
        *("find", "gawk", "getconf", "git", "grep", "head", "jq", "ls", "nproc", "nvidia-smi", "paste", "printf"),
        *("pwd", "readlink", "realpath", "rev", "sed", "seq", "sort", "tail", "test", "tr", "true", "type"),
        *("uniq", "wc", "which", "yq"),
    }
)
"""Programs whose output is the same in containers of one image on nodes of one kind."""
_NODES_FILE = re.compile(r"^/(?:etc/host|proc/|sys/|dev/(?!null|stdout|stderr|tcp|udp))|^/tmp/|^/var/")
_MACHINE = re.compile(r"-[imoprsv]+")
"""Options of uname that print the kind of the machine and the kernel, which all nodes share."""
_PLAIN = (*SAYING, "date", "hostname", "hostnamectl", "mkdir", "uname", "uptime", "whoami", "wait", "sleep", "exit")
"""Commands that do no harm if every node runs them, because no step uses the commands' output or effect."""
_TALKS = ("date", "hostname", "hostnamectl", "ifconfig", "ip", "uname", "whoami")
_NAMES = re.compile(r"[A-Za-z_]\w*")
_SET = re.compile(r"\b([A-Za-z_]\w*) *(?:[-+*/%&|^]|<<|>>)?=(?!=)")
_RANK = re.compile(
    r"^-{1,2}(?:node|machine)[-_]?(?:rank|id)\b|^(?:NODE_?|MACHINE_|GROUP_)?RANK=|^NODE_?ID=", re.IGNORECASE
)
"""Option or variable for the node's number. Its value may differ between nodes, because each task needs its own
number.
"""
_RANK_OPTION = re.compile(r"^-{1,2}(?:node|machine)[-_]?(?:rank|id)$", re.IGNORECASE)


@dataclass(frozen=True)
class Use:
    """Place in a script that uses a value which differs between nodes."""

    offset: int
    what: str
    """Word of the script that contains the differing value."""
    why: str
    """Reason why the value differs, such as the node's name."""


def uses(code: Code, set_outside: Iterable[str]) -> Iterator[Use]:
    """Uses of values that differ between nodes: in the words of a program, in a condition, or in a file.

    Args:
        set_outside: Environment variables of the task, which every program of the script can read.
    """
    tainted = _tainted(code)
    exported = {MASTER, "MASTER_PORT", *set_outside, *_exported(code)}
    for command in code.commands:
        yield from _of_assignments(command, tainted, exported)
        if not command.words and command.kind in ("simple", "end"):
            continue
        if command.name in _TALKS and (_writes(command) or command.after in ("|", "|&")):
            yield Use(command.start, command.name, "the node it runs on")
        if command.kind == "simple" and command.name in _PLAIN and not _writes(command):
            continue
        before: Word | None = None
        for word in command.words:
            found = _first(word.expansions, tainted)
            if found is not None and not _is_rank(word, before, found[1]):
                yield Use(word.start, word.raw, found[1])
            before = word
        others = [each for redirection in command.redirections for each in redirection.expansions]
        for expansion in (*others, *command.loose):
            if found := _reason(expansion, tainted):
                yield Use(command.start, f"${expansion.text}", found)


def _of_assignments(command: Command, tainted: dict[str, str], exported: set[str]) -> Iterator[Use]:
    is_programs = bool(command.words) and command.name not in ("declare", "local", "readonly", "typeset")
    for assignment in command.assignments:
        found = _first(assignment.expansions, tainted)
        name = f"{assignment.name}="
        if found is None or (_RANK.match(name) and found[1] == _OWN["SLURM_NODEID"]):
            continue
        if is_programs or assignment.name in exported:
            yield Use(assignment.start, f"{name}{''.join(word.raw for word in assignment.words)}", found[1])
    if command.name == "export":
        for word in command.words[1:]:
            if word.raw in tainted and not _RANK.match(f"{word.raw}="):
                yield Use(word.start, word.raw, tainted[word.raw])


def _is_rank(word: Word, before: Word | None, why: str) -> bool:
    """True if `word` passes the node's number as the rank, as in `--node_rank=$SLURM_NODEID`. If the option and its
    value are two words, `before` is the option.
    """
    if why != _OWN["SLURM_NODEID"]:
        return False
    return bool(_RANK.match(word.raw)) or (before is not None and bool(_RANK_OPTION.match(before.raw)))


def _writes(command: Command) -> bool:
    """True for a command that writes a file other than the log."""
    return any(
        each.operator.lstrip("&").startswith(">") and each.text is None and not _is_log(each.word)
        for each in command.redirections
    )


def _is_log(word: Word) -> bool:
    return word.raw.isdigit() or word.raw == "-" or word.raw in ("/dev/null", "/dev/stdout", "/dev/stderr")


def _exported(code: Code) -> set[str]:
    found: set[str] = set()
    for command in code.commands:
        if command.name == "export" or (command.name in ("declare", "typeset") and _has_flag(command, "x")):
            found.update(assignment.name for assignment in command.assignments)
            found.update(word.raw for word in command.words[1:])
        elif command.name == "set" and (_has_flag(command, "a") or any(w.raw == "allexport" for w in command.words)):
            found.update(code.assigned)
    return found


def _has_flag(command: Command, flag: str) -> bool:
    return any(word.raw.startswith("-") and flag in word.raw for word in command.words[1:])


def _tainted(code: Code) -> dict[str, str]:
    """Variables whose values differ between nodes, each with the reason. A variable is included if at least one
    assignment gives it a differing value.
    """
    found: dict[str, str] = {}
    readers: dict[str, list[str]] = {}
    for name, expansions in _flows(code):
        for expansion in expansions:
            for each in expansion.every():
                if each.kind == "variable":
                    readers.setdefault(each.text, []).append(name)
            if (why := _reason(expansion, {})) is not None:
                found.setdefault(name, why)
    todo = list(found)
    while todo:
        name = todo.pop()
        for reader in readers.get(name, ()):
            if reader not in found:
                found[reader] = found[name]
                todo.append(reader)
    return found


def _flows(code: Code) -> Iterator[tuple[str, tuple[Expansion, ...]]]:
    """Name of the variable, and expansions in the assigned value, for each assignment in the script."""
    inputs = tuple(each for command in code.commands for each in _inputs(command))
    for command in code.commands:
        for assignment in command.assignments:
            yield assignment.name, assignment.expansions
        yield from _assigned_within(command)
        words = command.words
        if command.kind == "for" and words:
            yield words[0].raw, _replaced_in(words[1:])
        elif command.name == "printf" and len(words) > 3 and words[1].raw == "-v":
            yield words[2].raw, _replaced_in(words[3:])
        elif command.name in ("read", "mapfile", "readarray"):
            yield from ((word.raw, inputs) for word in words[1:])


def _replaced_in(words: Sequence[Word]) -> tuple[Expansion, ...]:
    return tuple(each for word in words for each in word.expansions)


def _inputs(command: Command) -> Iterator[Expansion]:
    """Expansions that a command reads from its standard input."""
    for redirection in command.redirections:
        if redirection.operator.startswith("<"):
            yield from (*redirection.word.expansions, *redirection.expansions)
            if _NODES_FILE.match(redirection.word.raw):
                yield Expansion("variable", "HOSTNAME")


def _assigned_within(command: Command) -> Iterator[tuple[str, tuple[Expansion, ...]]]:
    """Variables that a command sets by `${NAME:=value}`, `((NAME = value))` or `let`, each with the expansions in the
    value.
    """
    for expansion in command.expansions():
        for each in expansion.every():
            if each.kind == "variable" and each.operator.startswith((":=", "=")):
                yield each.text, each.inner
            elif each.kind == "arithmetic":
                yield from ((name, each.inner) for name in _SET.findall(each.text)[:1])
    for word in command.words[1:] if command.name == "let" else ():
        names = tuple(Expansion("variable", name) for name in _NAMES.findall(word.raw))
        yield from ((name, names) for name in _SET.findall(word.raw)[:1])


def _first(expansions: Iterable[Expansion], tainted: dict[str, str]) -> tuple[Expansion, str] | None:
    return next(((each, why) for each in expansions if (why := _reason(each, tainted)) is not None), None)


def _reason(expansion: Expansion, tainted: dict[str, str]) -> str | None:
    """Reason why the value of an expansion differs between nodes; None if it is the same on every node."""
    for each in expansion.every():
        if each.kind == "variable" and each.operator.startswith("!") and "[" not in each.operator:
            return f"the variable that ${each.text} names"
        if each.kind == "variable" and (why := _OWN.get(each.text) or tainted.get(each.text)) is not None:
            return why
        for command in each.commands:
            if (why := _of_command(command)) is not None:
                return why
    return None


def _of_command(command: Command) -> str | None:
    """Reason why a command's output differs between nodes; None if it is the same on every node."""
    if command.kind != "simple" or not (command.words or command.redirections):
        return None
    if command.name == "command" and any(word.raw in ("-v", "-V") for word in command.words[1:2]):
        return None
    if command.name == "uname" and all(_MACHINE.fullmatch(word.raw) for word in command.words[1:]):
        return None
    names = [word.value for word in command.words]
    for word in (*command.words[1:], *(each.word for each in command.redirections if each.operator == "<")):
        if _NODES_FILE.match(word.raw) and not command.name.startswith("echo"):
            return f"{word.raw} of the node"
    if not names or command.name in _SAME or command.name in SLURM or command.name == "srun":
        return None
    return f"what {command.name or command.words[0].raw} answers on each node"
