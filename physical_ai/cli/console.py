"""Where commands write: results to stdout, everything else to stderr, colour only on a terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import Any

from rich.console import Console, RenderableType
from rich.measure import Measurement

from physical_ai.findings import Severity

FULL_WIDTH = 1000
PIPED_WIDTH = 200
"""Columns without a terminal: tables in a log or a file should not wrap."""

STYLES = {
    Severity.OK: "green",
    Severity.INFO: "dim",
    Severity.UNKNOWN: "dim",
    Severity.WARNING: "yellow",
    Severity.ERROR: "red",
}

out = Console(highlight=False, width=None if sys.stdout.isatty() else PIPED_WIDTH)
err = Console(stderr=True, highlight=False, soft_wrap=True, width=None if sys.stderr.isatty() else PIPED_WIDTH)


def print_figures(table: RenderableType, console: Console = out) -> None:
    """A table at its full width: on a narrow terminal a wrapped line is better than a truncated figure."""
    needed = Measurement.get(console, console.options.update(max_width=FULL_WIDTH), table).maximum
    width = console.width
    console.width = max(width, needed)  # `print` can only reduce the width of its console
    try:
        console.print(table)
    finally:
        console.width = width


def print_json(document: Any) -> None:
    """One document on stdout, with keys in a stable order."""
    print(json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False, default=str))


def print_warnings(warnings: Iterable[object]) -> None:
    """Warnings about a stack's settings."""
    for warning in warnings:
        err.print(str(warning), markup=False, style="yellow")
