"""Person on call, who reads the commands' output and types the commands that it names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

PROGRAMS = ("physai", "kubectl", "helm")
"""Programs that the person on call has."""
_COMMAND = re.compile(rf"(?<![\w/-])(?:{'|'.join(PROGRAMS)}) [a-z-].*")
_PROSE = frozenset(
    ("and", "starts", "drains", "restarts", "names", "says", "shows", "lists", "is", "with", "then", "which", "whether")
)
"""Words at which a command in a sentence ends, since the sentence goes on."""
_READ_ONLY = re.compile(
    r"^(physai (why|doctor|gates|alerts|evidence|status|accept|check)"
    r"|kubectl (-n \S+ )?(get|describe|logs)|helm (-n \S+ )?(list|history))\b"
)


def commands_in(text: str) -> list[str]:
    """Commands in a printed text, in their order.

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
    """True if the command changes something."""
    return not _READ_ONLY.match(command)


@dataclass
class Watch:
    """Session of the person on call: the commands that were typed, and the output that was read."""

    run: Callable[[str], str]
    typed: list[str] = field(default_factory=list[str])
    read: list[str] = field(default_factory=list[str])

    def type(self, command: str) -> str:
        self.typed.append(command)
        answer = self.run(command)
        self.read.append(answer)
        return answer

    def next(self, within: str, allowed: Callable[[str], bool] = lambda _: True) -> str:
        """First command in the text `within` that was not typed yet. Commands that change something come before those
        that read.
        """
        fresh = [each for each in commands_in(within) if each not in self.typed and allowed(each)]
        return next(iter([*filter(changes, fresh), *fresh]), "")


def placeholders(commands: Iterable[str]) -> list[str]:
    """Words in commands that the reader would have to replace: NODE, POD, <name>."""
    return [word for each in commands for word in each.split() if re.fullmatch(r"[A-Z][A-Z_]{2,}|<.*>|‹.*›", word)]
