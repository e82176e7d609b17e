"""Jinja for a workflow file, in a process of its own: the file may be anyone's, and a template may never end."""

from __future__ import annotations

import math
import os
import pickle
import resource
import select
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jinja2 import TemplateError

from physical_ai.osmo.jinja import environment, refused, without_last_newline
from physical_ai.osmo.marks import marking_environment
from physical_ai.osmo.refusal import Refusal


@dataclass(frozen=True)
class Limit:
    """What rendering may take: seconds of computing, and bytes of memory beyond what the process has."""

    seconds: float
    memory: int

    @property
    def patience(self) -> float:
        """Seconds after which a machine that is busy otherwise is not waited for."""
        return 20 * max(self.seconds, 1)


OSMO = Limit(0.5, 100 * 1024 * 1024)
"""Built-in limits of OSMO 6.3.1 (workflow.user_workflow_limits)."""


def render(text: str, values: Mapping[str, Any], limit: Limit) -> tuple[str, str]:
    """The text rendered, and once more with marks for its lines. Raises Refusal."""
    if not any(sign in text for sign in ("{{", "{%", "{#")):
        plain = without_last_newline(text)
        lines = plain.split("\n")
        return plain, "\n".join(f"{line}\ue000{index + 1}\ue001" for index, line in enumerate(lines))
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _work(writer, text, values, limit)
    os.close(writer)
    try:
        answer = _answer(reader, limit)
    finally:
        os.close(reader)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    if isinstance(answer, Refusal):
        raise answer
    return answer


def _work(writer: int, text: str, values: Mapping[str, Any], limit: Limit) -> None:
    """The child: renders within the limits, writes the answer and is gone."""
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(limit.seconds), math.ceil(limit.seconds) + 1))
        if sys.platform == "linux":
            with open("/proc/self/statm", encoding="ascii") as statm:
                used = int(statm.read().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (used + limit.memory, used + limit.memory))
        with os.fdopen(writer, "wb") as pipe:
            pickle.dump(_rendered(text, values, limit), pipe)
    finally:
        os._exit(0)


def _rendered(text: str, values: Mapping[str, Any], limit: Limit) -> tuple[Any, ...]:
    start = time.process_time()
    try:
        plain = environment().from_string(text).render(values)
    except Exception as error:
        return _refusal(text, error, limit)
    if time.process_time() - start > limit.seconds:
        return _too_long(limit)
    return ("text", plain, _marked(text, values, plain))


def _refusal(text: str, error: Exception, limit: Limit) -> tuple[Any, ...]:
    """What OSMO makes of an error: one of Jinja's, of memory and of types it expects.

    Others reach the user as they are.
    """
    line = getattr(error, "lineno", None) or _line_of(error)
    if isinstance(error, TemplateError):
        known = refused(_first_line(text), error)
        return ("refusal", known.kind, error.message or str(error), known.cause, line)
    if isinstance(error, MemoryError):
        return ("refusal", "OSMOUsageError", f"rendering takes more than {limit.memory >> 20} MiB", "MemoryError", None)
    if isinstance(error, TypeError):
        return ("refusal", "OSMOUsageError", str(error), "TypeError", line)
    return ("refusal", type(error).__name__, str(error), None, line)


def _marked(text: str, values: Mapping[str, Any], plain: str) -> str:
    """Marks are a convenience: without them lines are told less exactly."""
    try:
        return marking_environment().from_string(text).render(values)
    except Exception:
        return plain


def _line_of(error: BaseException) -> int | None:
    """Line of the template where an error arose: Jinja gives its frames the name <template>."""
    trace, line = error.__traceback__, None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<template>":
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _first_line(text: str) -> str:
    return text.partition("\n")[0]


def _too_long(limit: Limit) -> tuple[Any, ...]:
    return ("refusal", "OSMOUsageError", f"rendering takes longer than {limit.seconds} s", "TimeoutError", None)


def _answer(reader: int, limit: Limit) -> tuple[str, str] | Refusal:
    """What the child wrote. A child that was stopped by its limit has written nothing."""
    chunks: list[bytes] = []
    deadline = time.monotonic() + limit.patience
    while True:
        ready, _, _ = select.select([reader], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            chunks.clear()
            break
        chunk = os.read(reader, 1 << 16)
        if not chunk:
            break
        chunks.append(chunk)
    try:
        kind, *rest = pickle.loads(b"".join(chunks)) if chunks else _too_long(limit)  # noqa: S301 - of our own child
    except (pickle.UnpicklingError, EOFError):
        kind, *rest = _too_long(limit)
    if kind == "text":
        return rest[0], rest[1]
    name, message, cause, line = rest
    where = f"line {line} of the workflow section: " if line else ""
    refusal = Refusal(name, f"{where}{message}", cause=cause)
    refusal.line = line
    return refusal
