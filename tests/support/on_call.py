"""Somebody on call: reads what the commands print, and types the commands in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

PROGRAMS = ("physai", "kubectl", "helm")
"""What somebody on call has at hand."""
_COMMAND = re.compile(rf"(?<![\w/-])(?:{'|'.join(PROGRAMS)}) [a-z-].*")
_PROSE = frozenset(
    ("and", "starts", "drains", "restarts", "names", "says", "shows", "lists", "is", "with", "then", "which", "whether")
)
"""Words at which a sentence goes on after a command."""
_READ_ONLY = re.compile(
    r"^(physai (why|doctor|gates|alerts|evidence|status|accept|check)"
    r"|kubectl (-n \S+ )?(get|describe|logs)|helm (-n \S+ )?(list|history))\b"
)


def commands_in(text: str) -> list[str]:
    """The commands in what was printed, in its order.

    >>> commands_in("  do   physai node replace n dev --reboot drains the node; kubectl get pods, then wait.")
    ['physai node replace n dev --reboot', 'kubectl get pods']
    """
    found: list[str] = []
    for line in text.splitlines():
        start = 0
        while match := _COMMAND.search(line, start):
            words: list[str] = []
            for word in match[0].split():
                if word in _PROSE:
                    break
                words.append(word.rstrip(".,;:)`"))
                if word[-1] in ".,;:)`":
                    break
            found.append(" ".join(words))
            start = match.start() + len(words[0])
    return list(dict.fromkeys(found))


def changes(command: str) -> bool:
    """Whether it changes something."""
    return not _READ_ONLY.match(command)


@dataclass
class Watch:
    """One night: what was typed, and what was read."""

    run: Callable[[str], str]
    typed: list[str] = field(default_factory=list[str])
    read: list[str] = field(default_factory=list[str])

    def type(self, command: str) -> str:
        self.typed.append(command)
        answer = self.run(command)
        self.read.append(answer)
        return answer

    def next(self, within: str, allowed: Callable[[str], bool] = lambda _: True) -> str:
        """The first command that was printed and not typed yet: one that changes something before one that reads."""
        fresh = [each for each in commands_in(within) if each not in self.typed and allowed(each)]
        return next(iter([*filter(changes, fresh), *fresh]), "")


def placeholders(commands: Iterable[str]) -> list[str]:
    """Words in commands that the reader would have to replace: NODE, POD, <name>."""
    return [word for each in commands for word in each.split() if re.fullmatch(r"[A-Z][A-Z_]{2,}|<.*>|‹.*›", word)]
