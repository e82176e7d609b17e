"""YAML text of a converted workflow."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any, cast

import yaml

from physical_ai.planning.osmo_service import Plain

_BLOCK = re.compile(
    r"[!-~](?:[\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff])*\n"
)
"""Text that YAML can keep as a block: without control characters, and without other characters that YAML takes for line
ends.
"""
_KEY = "contents"


class _Written(Plain):
    """YAML writer that writes texts of several lines as blocks."""


def _text(dumper: _Written, value: str) -> yaml.Node:
    style = "|" if "\n" in value else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)  # pyright: ignore[reportUnknownMemberType]


_Written.add_representer(str, _text)  # pyright: ignore[reportUnknownMemberType]


def text(workflow: Mapping[str, Any], source: str) -> str:
    """A workflow as YAML, with a comment that names the script that it was converted from.

    Scripts are written as blocks here, because libyaml writes a text with a tab, or with a blank at the end of a line,
    as a single quoted line. A block keeps every character as it is (YAML 1.1, 8.1.3 and 9.3.4).
    """
    name = "".join(character for character in source if character.isprintable())
    marks: dict[str, str] = {}
    body = yaml.dump(_marked(dict(workflow), marks), Dumper=_Written, sort_keys=False, allow_unicode=True, width=120)
    for mark, contents in marks.items():
        body = re.sub(
            rf"^(?P<before> *(?:- )?){_KEY}: {mark}$",
            lambda found, text=contents: _block(found, text),
            body,
            flags=re.M,
        )
    return f"# From {name}: physai lint --from-sbatch\n{body}"


def _marked(value: Any, marks: dict[str, str]) -> Any:
    """The value with a mark in place of each text that is to be written as a block. Adds the texts to `marks`."""
    if isinstance(value, dict):
        found = cast("dict[str, Any]", value)
        return {key: _mark(key, item, marks) or _marked(item, marks) for key, item in found.items()}
    if isinstance(value, list):
        return [_marked(item, marks) for item in cast("list[Any]", value)]
    return value


def _mark(key: str, item: object, marks: dict[str, str]) -> str | None:
    if key != _KEY or not isinstance(item, str) or not _BLOCK.fullmatch(item):
        return None
    mark = f"text-{hashlib.sha256(item.encode()).hexdigest()}"
    marks[mark] = item
    return mark


def _block(found: re.Match[str], contents: str) -> str:
    indent = " " * (len(found["before"]) + 2)
    # A script ends with one line end, which is the last one of the block.
    lines = [f"{indent}{line}" if line else "" for line in contents.removesuffix("\n").split("\n")]
    return "\n".join([f"{found['before']}{_KEY}: |", *lines])
