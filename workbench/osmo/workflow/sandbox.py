"""Rendering of a workflow file in a separate process with limits, since the file is not trusted and a template may
never end.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from jinja2 import TemplateError, UndefinedError

from physical_ai.untrusted import process
from workbench.osmo.jinja import environment, without_last_newline
from workbench.osmo.refusal import Refusal, crash
from workbench.osmo.template_errors import meaning, offset
from workbench.osmo.workflow.line_marks import marking_environment
from workbench.osmo.workflow.undefined import undefined


@dataclass(frozen=True)
class Limit:
    """Limits on rendering: CPU time in seconds, and memory in bytes in addition to what the process already uses."""

    seconds: float
    memory: int


OSMO = Limit(0.5, 100 * 1024 * 1024)
"""Limits on rendering that OSMO 6.3.1 has by default (workflow.user_workflow_limits)."""


EVERY_KIND = """{# #}{% set a = 'b' | upper %}{% for each in [1] if a is defined %}{{ each }}{% else %}{% endfor %}
{{ a }}"""
"""Template with a comment, statements, a filter and a test."""


@cache
def prepare() -> None:
    """Renders a template once in this process, for the processes that it forks. Jinja prepares its lexer for the first
    template, which takes longer than most templates do.
    """
    for each in (environment(), marking_environment()):
        each.from_string(EVERY_KIND).render()


def render(text: str, values: Mapping[str, Any], limit: Limit) -> tuple[str, str]:
    """The rendered text, and the rendered text with line marks. Raises Refusal if OSMO would not render it."""
    if not any(sign in text for sign in ("{{", "{%", "{#")):
        plain = without_last_newline(text)
        lines = plain.split("\n")
        return plain, "\n".join(f"{line}\ue000{index + 1}\ue001" for index, line in enumerate(lines))
    prepare()
    # Twice: the text is rendered a second time for its line marks.
    most = process.Limit(2 * limit.seconds, limit.memory, 20 * max(limit.seconds, 1))
    try:
        answer = process.run(lambda: _answer(text, values, limit), most)
    except process.Stopped:
        raise _too_long(limit) from None
    if "refusal" in answer:
        kind, message, line, column = answer["refusal"]
        refusal = Refusal(kind, message, line=line)
        refusal.column = column
        refusal.undefined = answer["undefined"]
        raise refusal
    return answer["plain"], answer["marked"]


def _answer(text: str, values: Mapping[str, Any], limit: Limit) -> dict[str, Any]:
    start = time.process_time()
    try:
        plain = environment().from_string(text).render(values)
        if time.process_time() - start > limit.seconds:
            raise _too_long(limit)
    except Exception as error:
        refusal = _refusal(error, limit)
        if (place := offset(error)) is not None:
            before = text.replace("\r\n", "\n").replace("\r", "\n")[:place]
            refusal.line, refusal.column = before.count("\n") + 1, place - (before.rfind("\n") + 1) + 1
        names = undefined(text, values) if isinstance(error, UndefinedError) else {}
        return {"refusal": [refusal.kind, refusal.message, refusal.line, refusal.column], "undefined": names}
    return {"plain": plain, "marked": _marked(text, values, plain)}


def _too_long(limit: Limit) -> Refusal:
    return Refusal("OSMOUsageError", f"rendering takes longer than {limit.seconds} s")


def _refusal(error: Exception, limit: Limit) -> Refusal:
    """The refusal with which OSMO answers an error while rendering. OSMO handles errors of Jinja, of memory and of
    types, and crashes on all other errors.
    """
    if isinstance(error, Refusal):
        return error
    if isinstance(error, MemoryError):
        return Refusal("OSMOUsageError", f"rendering takes more than {limit.memory >> 20} MiB")
    expected = isinstance(error, TemplateError | TypeError)
    refusal = Refusal("OSMOUsageError", meaning(error)) if expected else crash(meaning(error))
    # Jinja gives its frames the name <template>.
    lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == "<template>"]
    refusal.line = getattr(error, "lineno", None) or next(reversed(lines), None)
    return refusal


def _marked(text: str, values: Mapping[str, Any], plain: str) -> str:
    """The rendered text with line marks; `plain`, the text without marks, if rendering with marks fails. Line numbers
    are then less exact.
    """
    try:
        return marking_environment().from_string(text).render(values)
    except Exception:
        return plain
