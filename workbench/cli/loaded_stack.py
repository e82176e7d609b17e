"""A stack with the settings of the command line, for commands that read and need no simulator."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from physical_ai.settings import Loaded, Overlay


def overlays_of(files: Sequence[Path] | None, assignments: Sequence[str] | None) -> list[Overlay]:
    """Settings that the options --file and --set add, lowest first."""
    from physical_ai.settings import Overlay

    assigned = [Overlay.assign(assignments)] if assignments else []
    return [*(Overlay.read(file) for file in files or ()), *assigned]


def read_loaded(stack: str, files: Sequence[Path] | None = None, assignments: Sequence[str] | None = None) -> Loaded:
    """Loads and validates a stack with the settings of the command line, and the values files of its charts.

    Raises:
        SettingsError: lists all faults.
    """
    from physical_ai.settings import load

    return load(stack, overlays_of(files, assignments))
