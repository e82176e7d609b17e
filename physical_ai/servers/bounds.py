"""Limits on the time and the size of answers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Bounds:
    """Limits on one answer, and on the waits for a busy server."""

    seconds: float = 30.0
    """Seconds from the connection to the last byte of the answer.

    A page of 500 Pods takes one or two seconds on a slow line.
    """
    connect: float = 5.0
    idle: float = 15.0
    """Maximum number of seconds without a new byte of the answer."""
    size: int = 32 << 20
    """Largest number of bytes. The decoded document may need twenty times as much memory."""
    depth: int = 100
    """Largest depth of nested lists and objects. The schemas of CustomResourceDefinitions have about 40 levels."""
    tries: int = 4
    patience: float = 30.0
    """Maximum total time, in seconds, of the waits before repeated requests, even if the server asks for longer
    waits.
    """


USUAL = Bounds()
