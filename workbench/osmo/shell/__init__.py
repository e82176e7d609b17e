"""Parser for shell scripts: their commands, and the expansions in their words. Nothing is run.

>>> (command,) = commands("srun -n2 python 'a b' $X")
>>> [word.value for word in command.words], command.words[-1].expansions[0].text
(['srun', '-n2', 'python', 'a b', None], 'X')
"""

from __future__ import annotations

from workbench.osmo.shell.model import Assignment, Command, Expansion, Redirection, Unreadable, Word
from workbench.osmo.shell.script import commands

__all__ = ["Assignment", "Command", "Expansion", "Redirection", "Unreadable", "Word", "commands"]
