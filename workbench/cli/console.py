"""Output of commands: results to stdout, everything else to stderr, colour only on a terminal."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderableType, RenderHook, RenderResult
from rich.measure import Measurement
from rich.segment import Segment

from physical_ai.citations import cited
from physical_ai.findings import Severity
from physical_ai.untrusted.text import COMMAND, inert, inert_json, printable, untagged

FULL_WIDTH = 1000
PIPED_WIDTH = 200
"""Number of columns without a terminal, so that tables in a log or a file do not wrap."""

STYLES = {
    Severity.OK: "green",
    Severity.INFO: "dim",
    Severity.UNKNOWN: "dim",
    Severity.WARNING: "yellow",
    Severity.ERROR: "red",
}


@dataclass(frozen=True)
class _Inert:
    """Renderable that makes control characters and pipeline commands in its text harmless, because the text may come
    from any file.
    """

    renderables: Sequence[ConsoleRenderable]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        start = ""  # of the line, without white space
        for renderable in self.renderables:
            for segment in console.render(renderable, options):
                if segment.control:
                    yield segment
                    continue
                shown: list[str] = []
                for index, part in enumerate(segment.text.split("\n")):
                    start = "" if index else start
                    text = untagged(printable(cited(part)))
                    bare = text.lstrip()
                    if bare and len(start) < len(COMMAND):
                        if f"{start}{bare}".startswith(COMMAND):
                            text = f"{text[: len(text) - len(bare)]}\\x3a{bare[1:]}"
                        start += bare
                    shown.append(text)
                yield Segment("\n".join(shown), segment.style)


class _InertText(RenderHook):
    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        return [_Inert(renderables)]


out, err = Console(), Console(stderr=True)


def renew() -> None:
    """Adapts the consoles to the present standard streams and environment variables. A copy of the resident process
    needs this, because it was forked with other streams and variables.
    """
    width = None if sys.stdout.isatty() else PIPED_WIDTH
    Console.__init__(out, highlight=False, width=width)
    width = None if sys.stderr.isatty() else PIPED_WIDTH
    Console.__init__(err, stderr=True, highlight=False, soft_wrap=True, width=width)
    for console in (out, err):
        console.push_render_hook(_InertText())


renew()


def discard_output() -> None:
    """Discards output that is still buffered after a write has failed. Otherwise Python would write it at the end of
    the process, and fail again.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.__stdout__, sys.__stderr__):
        if stream is not None and not stream.closed:
            try:
                stream.flush()
            except OSError:
                os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def print_figures(table: RenderableType, console: Console = out) -> None:
    """Prints a table at its full width. On a narrow terminal a wrapped line is better than a truncated figure."""
    needed = Measurement.get(console, console.options.update(max_width=FULL_WIDTH), table).maximum
    width = console.width
    console.width = max(width, needed)  # `print` can only reduce the width of its console
    try:
        console.print(table)
    finally:
        console.width = width


SCHEMA_VERSION = 1
"""Version of the documents that commands print with --json. It increases when a key is removed or changes its meaning,
not when a key is added.
"""


def print_json(document: Mapping[str, Any]) -> None:
    """Prints a command's own document as JSON on stdout, with its `schemaVersion`, and keys in a stable order."""
    print_foreign_json({"schemaVersion": SCHEMA_VERSION, **document})


def print_foreign_json(document: Any) -> None:
    """Prints JSON of a format that others define, such as Helm values or JSON Schema, on stdout."""
    print(inert_json(cited(json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False, default=str))))


def print_text(text: str) -> None:
    """Prints a text of several lines on stdout. Control characters are made harmless, because the text may quote a
    file.
    """
    print(inert(cited(text)), end="")


SILENT_SECONDS = 0.7
"""Time after which a command says on a terminal what it is doing, unless it has ended."""
_spoken: list[str] = []
"""Texts of the running blocks of `doing`. Only the outermost one is said."""


@contextmanager
def doing(what: str) -> Generator[None]:
    """Says on a terminal what the block does, such as `reading the cluster`, if it takes longer than SILENT_SECONDS.

    The block must not show progress of its own.
    """
    stream = sys.stderr  # the block may redirect it
    if _spoken or not stream.isatty():
        yield
        return
    said = Console(file=stream, highlight=False, soft_wrap=True)
    said.push_render_hook(_InertText())
    timer = threading.Timer(SILENT_SECONDS, lambda: said.print(f"{what} …", style="dim", markup=False))
    timer.daemon = True
    _spoken.append(what)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        _spoken.clear()


def print_warnings(warnings: Iterable[object]) -> None:
    """Prints warnings about a stack's settings."""
    for warning in warnings:
        err.print(str(warning), markup=False, style="yellow")
