"""Decoding of JSON from a server, which may have sent anything."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NoReturn, TypeGuard

from physical_ai.servers.bounds import USUAL

SHOWN = 60
"""Maximum number of characters that a message shows of an answer that is not a JSON document."""


class NotADocument(Exception):
    """Raised for an answer that is not a JSON document. The text says what the answer is instead, without a verb: `a
    page that begins with '<html>'`.
    """


def decoded(body: bytes, depth: int = USUAL.depth) -> Any:
    """JSON document in a body, decoded.

    Raises:
        NotADocument
    """
    if not body.strip():
        raise NotADocument("an empty answer")
    try:
        found: Any = json.loads(body, parse_constant=_refuse)
    except UnicodeDecodeError:
        raise NotADocument(f"text that is not UTF-8{_begins(body)}") from None
    except RecursionError:
        raise NotADocument("a document of lists or objects within one another without end") from None
    except ValueError:
        what = "a page" if body.lstrip()[:1] == b"<" else "no JSON, or JSON that was cut off"
        raise NotADocument(f"{what}{_begins(body)}") from None
    if not _is_within(found, depth):
        raise NotADocument(f"a document of more than {depth} lists or objects within one another")
    if b"\\ud" in body.lower():  # half of a surrogate pair, which no file can contain
        found = json.loads(json.dumps(found, ensure_ascii=False).encode(errors="replace"))
    return found


def shown(body: bytes) -> str:
    """Beginning of a body as one line of printable characters."""
    text = body[: 4 * SHOWN].decode(errors="replace")
    line = " ".join("".join(each if each.isprintable() else " " for each in text).split())
    return line if len(line) <= SHOWN else f"{line[:SHOWN]}…"


def _begins(body: bytes) -> str:
    return f" that begins with {shown(body)!r}"


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _is_within(value: Any, depth: int) -> bool:
    """True where no value is nested deeper than `depth`.

    The check goes level by level, since a recursion could itself be too deep.
    """
    level: list[Any] = [value]
    for _ in range(depth):
        level = [inner for each in level if _has_values(each) for inner in _inside(each)]
        if not level:
            return True
    return not any(map(_has_values, level))


def _has_values(value: Any) -> TypeGuard[dict[str, Any] | list[Any]]:
    return isinstance(value, (dict, list))


def _inside(value: dict[str, Any] | list[Any]) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value
