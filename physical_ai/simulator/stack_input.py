"""What the simulator is given of a stack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class StackInput:
    """A stack file with its overlays applied, and the names of its secrets."""

    stack: str
    config: Mapping[str, Any]
    """Values by full key, as `physical-ai:pools`."""
    secret_names: tuple[str, ...] = ()
    record: bool = False
    """Whether the stack records the past, so that Azure is simulated as it was: retired sizes and versions included."""
