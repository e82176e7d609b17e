"""Texts of others as Markdown in which nothing of them has an effect: code, plain text, severities. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from physical_ai.untrusted.text import printable

VALUE_LENGTH = 70


def severity(each: Mapping[str, Any]) -> str:
    """Severity of a finding, bold if it is an error."""
    return f"**{each['severity']}**" if each["severity"] == "error" else str(each["severity"])


def code(value: Any) -> str:
    """A value as Markdown code on one line. All characters are escaped that would break the code or the table around
    it.
    """
    shown = printable(" ".join(str(value).split()))
    shown = shown if len(shown) <= VALUE_LENGTH else f"{shown[: VALUE_LENGTH - 1]}…"
    if not shown:
        return "(empty)"
    fence = "`" * (max((len(run) for run in re.findall("`+", shown)), default=0) + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{pad}{shown.replace('|', chr(92) + '|')}{pad}{fence}"


def text(value: str) -> str:
    """A text on one line in which markup and mentions have no effect. Parts in backticks stay code."""
    parts = re.split(r"(`[^`\n]*`)", printable(" ".join(value.split())))
    return "".join(code(part[1:-1]) if part.startswith("`") and len(part) > 2 else _plain(part) for part in parts)


def _plain(value: str) -> str:
    """Text in which Markdown, entities, and names that GitHub would notify or link have no effect.

    GitHub decodes entities before it looks for mentions, and finds mentions after any character that is not an ASCII
    word character.
    """
    escaped = re.sub(r"([\\`*_{}\[\]<>|~])", r"\\\1", re.sub(r"&(?=#|\w+;)", "&amp;", value))
    unlinked = re.sub(r"(?<![\w./])#(?=\w)", "#\u200b", escaped)
    return re.sub(r"(?<![A-Za-z0-9_])@", "@\u200b", unlinked)
