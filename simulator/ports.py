"""Loopback ports. A process that uses such a port gets the same port again after a restart."""

from __future__ import annotations

import json
import random
import socket
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

LOOPBACK = "127.0.0.1"
KEPT = range(20_000, 32_000)
"""Ports for processes that keep their port. All of them are below the range of outgoing connections (from 32768 on
Linux, from 49152 on macOS): an outgoing connection could otherwise take the port of a stopped process.
"""
ATTEMPTS = 100

Server = TypeVar("Server")


def noted(file: Path) -> int:
    """The port in a JSON file; 0 if the file does not exist."""
    return json.loads(file.read_text()) if file.exists() else 0


def kept_port(preferred: int = 0) -> int:
    """A free port that a process can keep: `preferred`, unless another process uses it. Raises OSError if no port is
    free.
    """
    return bound(_probe, preferred)


def bound(server: Callable[[int], Server], preferred: int = 0) -> Server:
    """A server at a port that it can keep: `preferred`, unless another process uses it.

    `server`: function that starts the server at a port, or raises OSError. Raises OSError if no port is free.
    """
    tried = [*([preferred] if preferred else []), *random.sample(KEPT, ATTEMPTS)]
    for port in tried[:-1]:
        try:
            return server(port)
        except OSError:
            continue
    return server(tried[-1])


def _probe(port: int) -> int:
    with socket.socket() as probe:
        # Connections of an ended process keep its port for a minute, but another process can listen on the
        # port meanwhile.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((LOOPBACK, port))
    return port
