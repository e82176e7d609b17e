"""Steps of a job: `srun` commands, their options, and the commands that replace them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.osmo.sbatch import step_options, values
from workbench.osmo.sbatch.job import Job
from workbench.osmo.sbatch.programs import SRUN
from workbench.osmo.sbatch.reading import Code
from workbench.osmo.sbatch.report import Wrong, quoted
from workbench.osmo.sbatch.unseen import is_saying
from workbench.osmo.sbatch.variables import MASTER
from workbench.osmo.shell import Command, Word

_FIRST = "srun is not at the start of the line"
_OWN_LINE = "Write srun first in a line of its own, with its command."
_ADDRESSES = ("hostname", "ip", "getent", "host", "dig")
_KNOWN_LATER = "Write the options and the command into the line: what is in a variable is seen only when it runs."


@dataclass(frozen=True)
class Step:
    """One `srun` command of a script."""

    command: Command
    line: int
    start: int
    """Offset at which the replaced text begins. The text is srun with all its options, and ends at `end`."""
    end: int
    starts_processes: bool
    """True if the command keeps the name srun, which is then a function that starts the processes of a node."""
    image: str | None

    @property
    def replacement(self) -> str:
        return "srun " if self.starts_processes else ""


def hidden(command: Command) -> str | None:
    """First text in `command`, such as an argument or here-document, that may call srun; None if no text does."""
    if is_saying(command):
        texts = [each.text for each in command.expansions() if each.kind == "command"]
        # A script that is written into a file is run later.
        if any(each.operator.startswith(">") for each in command.redirections):
            texts += [each.text for each in command.redirections if each.text is not None]
    else:
        texts = [word.raw for word in command.words]
        texts += [word.raw for assignment in command.assignments for word in assignment.words]
        texts += [each.text or each.word.raw for each in command.redirections]
    return next((text for text in texts if SRUN.search(text)), None)


def refused_srun(command: Command, text: str) -> Wrong:
    """Error that explains why an srun in a text or a substitution cannot be converted."""
    for expansion in command.expansions():
        for inner in (each for part in expansion.every() for each in part.commands):
            if inner.name == "srun" and any(word.value in _ADDRESSES for word in inner.words):
                fix = f"Delete the line: {MASTER} is the address of the first node's task, where the script reads it."
                return Wrong("srun asks for the address of a node", fix)
    if any(each.kind == "command" and SRUN.search(each.text) for each in command.expansions()):
        return Wrong("the script uses what srun prints", "Write the command without srun, where one node is enough.")
    return Wrong(_FIRST, f"{_OWN_LINE} It is in {quoted(text)}.")


def step_of(command: Command, code: Code, job: Job) -> Step:
    """The step that an srun command describes. Raises `Wrong` if it cannot be converted."""
    if command.in_function:
        raise Wrong("srun is in a function, whose arguments it may run", _OWN_LINE)
    if command.before in ("|", "|&", "&"):
        raise Wrong(_FIRST, _OWN_LINE)
    if command.after == "&":
        raise Wrong("steps that run at the same time would share the task", "Write one task of a group for each step.")
    if any(SRUN.search(word.raw) for word in command.words[1:]):
        raise refused_srun(command, " ".join(word.raw for word in command.words[1:]))
    if job.nodes > 1 and (command.depth or command.before in ("&&", "||")):
        raise Wrong(
            "a step of several nodes is in a condition, a loop or a group, which each node would decide on its own",
            _OWN_LINE,
        )
    if job.processes > 1 and any(each.operator.startswith("<") for each in command.redirections):
        raise Wrong("srun gives its input to each process", "Write the input's file as an argument of the command.")
    begin, image = _options(command.words, code, job)
    starts = job.processes > 1
    return Step(command, code.line(command.start), command.words[0].start, begin.start, starts, image)


def _options(words: Sequence[Word], code: Code, job: Job) -> tuple[Word, str | None]:
    """Two results: the first word of the command that srun runs, which follows srun's own options; and the image that
    these options name, or None.
    """
    image: str | None = None
    index = 1
    while index < len(words):
        word = words[index]
        if not word.prefix.startswith("-"):
            _check_command(words, index, code)
            return word, image
        index += 1
        if word.value == "--":
            break
        name, value = _named(word)
        if value is None and step_options.takes_value(name):
            if index == len(words):
                break
            value = words[index].raw if words[index].expansions else (words[index].value or "")
            index += 1
        if name in step_options.FLAGS or name in step_options.DROPPED:
            continue
        found = value or ""
        if name == "--container-image" and not any(sign in found for sign in "$`"):
            image = values.image(found)
        elif not step_options.repeats_header(name, found, job):
            if any(sign in found for sign in "$`"):
                raise Wrong(
                    f"srun {name}={quoted(found)}: the value is not known before the script runs", "Write the value."
                )
            raise step_options.refusal(name, found)
    if index < len(words):
        _check_command(words, index, code)
        return words[index], image
    raise Wrong("srun without a command", "srun COMMAND")


def _named(word: Word) -> tuple[str, str | None]:
    """The name of an option, and its value if the value is in the same word."""
    if word.value is not None:
        return step_options.named(word.value)
    name, value = step_options.named(word.prefix)
    if value is None and word.prefix.startswith("--"):
        raise Wrong(f"srun {quoted(word.raw)}: the option is not known before the script runs", _KNOWN_LATER)
    return name, word.raw.partition("=")[2] if word.prefix.startswith("--") else word.raw[2:]


def _check_command(words: Sequence[Word], index: int, code: Code) -> None:
    """Raises `Wrong` if the word at `index`, at which the command of an `srun` should begin, may become an option when
    the shell expands a variable in it.
    """
    for word in words[index:]:
        if word.begins_replaced:
            # $FOLDER/program is a path, whatever the folder is.
            if word.second.startswith("/"):
                return
            if not _may_be_empty(word, code):
                return
        elif word.prefix.startswith("-"):
            raise Wrong(f"srun: {quoted(word.raw)} is behind what may be empty, and would be an option", _KNOWN_LATER)
        else:
            return
    raise Wrong("srun without a command", "srun COMMAND")


def _may_be_empty(word: Word, code: Code) -> bool:
    """True if `word` may be empty after the shell has expanded it. Raises `Wrong` if the expanded word is not known, or
    may begin with `-`, as options do.
    """
    texts = code.first_words(word)
    if texts is None or any(text.startswith("-") for text in texts):
        held = f"what {quoted(word.raw)} holds is not known before the script runs"
        if texts is not None:
            held = f"{quoted(word.raw)} holds options of srun"
        raise Wrong(f"srun: {held}", _KNOWN_LATER)
    return not all(texts)
