"""Environment variables that a task's scripts export before they start the program."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.osmo import shell
from workbench.osmo.lint.view import TaskView

_EXPORTS = ("export", "declare", "typeset")


def exported(task: TaskView, name: str) -> str | None:
    """The value that a task's scripts export for a variable; None if they export none, or if the value is not known."""
    for text in _scripts(task):
        try:
            commands = shell.commands(text)
        except shell.Unreadable:
            continue
        assigned = {each.name for command in commands for each in command.assignments if not command.words}
        passed = {word.raw for command in commands if command.name in _EXPORTS for word in command.words[1:]}
        for command in commands:
            is_passed = bool(command.words) or (name in passed and name in assigned)
            for assignment in command.assignments:
                if assignment.name == name and is_passed and len(assignment.words) == 1:
                    return assignment.words[0].value
    return None


def _scripts(task: TaskView) -> Iterator[str]:
    """Texts of the shell scripts that a task starts: arguments with blanks or semicolons, which are taken for scripts,
    and files that its command line names.
    """
    words = [*task.spec.command, *task.spec.args]
    yield from (word for word in words if any(sign in word for sign in " \n;"))
    for file in task.spec.files:
        if any(file.path in word for word in words):
            yield file.contents
