"""Where commands write: results to stdout, everything else to stderr, colour only on a terminal."""

from __future__ import annotations

import json
import sys
from typing import Any

from rich.console import Console

PIPED_WIDTH = 200
"""Columns where no terminal says otherwise: a log or a file should not break tables."""

out = Console(highlight=False, width=None if sys.stdout.isatty() else PIPED_WIDTH)
err = Console(stderr=True, highlight=False, soft_wrap=True, width=None if sys.stderr.isatty() else PIPED_WIDTH)


def print_json(document: Any) -> None:
    """One document on stdout, with keys in a stable order."""
    print(json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False, default=str))
