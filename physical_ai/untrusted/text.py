"""Text of unknown origin, made harmless for terminals and for logs of pipelines: without control characters and
commands.
"""

from __future__ import annotations

import json
import re

_TAGGED = re.compile(r"##(?=\w*\[)")
"""Expression for the start of a pipeline command that counts at any position in a line: `##[…]` on GitHub
(actions/runner, ActionCommand.cs), `##vso[…]` on Azure.
"""
_UNSAFE_IN_JSON = re.compile(rf"{_TAGGED.pattern}|[^\x20-\x7e\n]")
COMMAND = "::"
"""Start of a command on GitHub, at the start of a line after any white space."""


def printable(text: str) -> str:
    """The text with control characters and line ends replaced by escapes, because a terminal would obey them."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def inert(text: str) -> str:
    r"""The text as lines without control characters and pipeline commands.

    >>> inert("one\n  ::error::two")
    'one\n  \\x3a:error::two'
    """
    return "\n".join(_inert_line(line) for line in text.split("\n"))


def _inert_line(line: str) -> str:
    shown = untagged(printable(line))
    bare = shown.lstrip()
    return f"{shown[: len(shown) - len(bare)]}\\x3a{bare[1:]}" if bare.startswith(COMMAND) else shown


def untagged(text: str) -> str:
    """The text with `##[…]` and `##vso[…]` escaped, which a pipeline would obey at any position in a line."""
    return _TAGGED.sub(r"#\\x23", text)


def inert_json(document: str) -> str:
    """Equivalent JSON document in which everything that a terminal or a pipeline would obey is escaped."""
    return _UNSAFE_IN_JSON.sub(_escaped, document)


def _escaped(found: re.Match[str]) -> str:
    if found[0] == "##":
        return "#\\u0023"
    return found[0] if found[0].isprintable() else json.dumps(found[0])[1:-1]
