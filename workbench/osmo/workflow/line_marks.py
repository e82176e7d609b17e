"""Mapping from lines of a rendered template to lines of the template. Marks at the template's line ends carry the line
numbers through Jinja.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from jinja2 import StrictUndefined
from jinja2.ext import Extension
from jinja2.lexer import Token, TokenStream
from jinja2.sandbox import SandboxedEnvironment

_OPEN, _CLOSE = "\ue000", "\ue001"
_MARK = re.compile(f"{_OPEN}(\\d+){_CLOSE}")


class LineMarks(Extension):
    """Jinja extension that puts a mark before each line end in a template's text, but not in expressions and
    statements.
    """

    def filter_stream(self, stream: TokenStream) -> Iterable[Token]:
        return self._marked(stream)

    def _marked(self, stream: TokenStream) -> Iterator[Token]:
        for token in stream:
            if token.type != "data":
                yield token
                continue
            lines = token.value.split("\n")
            marked = [f"{line}{_OPEN}{token.lineno + index}{_CLOSE}" for index, line in enumerate(lines[:-1])]
            yield Token(token.lineno, token.type, "\n".join([*marked, lines[-1]]))


def marking_environment() -> SandboxedEnvironment:
    """OSMO's Jinja environment, with line marks added."""
    return SandboxedEnvironment(undefined=StrictUndefined, extensions=[LineMarks])


def line_map(plain: str, marked: str, first: int) -> tuple[int, ...]:
    """Line number in the file, from 0, of each line of the rendered text `plain`.

    `marked` is the same text with line marks, and `first` the line at which the template starts. If the two texts
    differ in more than the marks, for example after a filter on text, each rendered line is assumed to come from the
    template line with the same number.
    """
    count = plain.count("\n") + 1
    if _MARK.sub("", marked) != plain:
        return tuple(first + index for index in range(count))
    found: list[int | None] = []
    for line in marked.split("\n"):
        numbers = _MARK.findall(line)
        found.append(first + int(numbers[-1]) - 1 if numbers else None)
    following = found[:]
    for index in range(len(found) - 2, -1, -1):
        if following[index] is None:
            following[index] = following[index + 1]
    result: list[int] = []
    last = first
    for index, (number, later) in enumerate(zip(found, following, strict=True)):
        if number is not None:
            last = number
        elif index:
            last = later if later is not None else last + 1
        result.append(last)
    return tuple(result)
