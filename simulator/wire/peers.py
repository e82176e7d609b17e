"""Access check of a provider: only processes of the user who runs the provider may connect.

The engine attaches to a provider by its port alone (PULUMI_DEBUG_PROVIDERS) and sends no secret, so every user of the
machine could connect. The check asks the kernel which user owns the socket at the other end of a connection.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc
import psutil

TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
"""The kernel's socket tables. The second one contains IPv6 sockets that use IPv4 addresses, as gRPC's do."""
_LOOPBACK = ("0100007F", "0000000000000000FFFF00000100007F")
"""The loopback address 127.0.0.1 in the notation of the kernel's socket tables, on machines whose byte order is
little-endian.
"""
REMEMBERED_SECONDS = 5.0
"""Seconds for which the owner of a port is remembered. Reading the kernel's table for each call would take
milliseconds; after a longer time another user's process may have the port.
"""
_PEER = re.compile(r"ipv4:127\.0\.0\.1:(\d+)")

IsOwn = Callable[[int, int], bool]
"""Function that returns True if the peer is a process of this user. Arguments: the peer's and the server's port."""


def is_own(peer: int, server: int) -> bool:
    """True if this user made the connection from loopback port `peer` to loopback port `server`.

    On systems other than Linux, only connections of this process's descendants count (the engine is one of them),
    because sockets of other processes are only visible to root.
    """
    if TABLES[0].exists():
        return owner(sockets(), peer, server) == os.getuid()
    for process in psutil.Process().children(recursive=True):
        try:
            ends = [(each.laddr[1], each.raddr[1]) for each in process.net_connections("tcp") if each.raddr]
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
        if (peer, server) in ends:
            return True
    return False


def sockets() -> str:
    """The lines of the kernel's socket tables; empty on systems other than Linux."""
    return "".join(table.read_text() for table in TABLES if table.exists())


def owner(lines: str, peer: int, server: int) -> int | None:
    """The user id of a connection's client, from the kernel's socket tables (proc_net_tcp(5)); None if there is no such
    connection.
    """
    clients = [f" {each}:{peer:04X} {each}:{server:04X} " for each in _LOOPBACK]
    line = next((line for line in lines.splitlines() if any(client in line for client in clients)), None)
    return int(line.split()[7]) if line is not None else None


class OwnProcessesOnly(grpc.ServerInterceptor):
    """Interceptor that answers calls of this user's processes, and refuses all others before it reads their request."""

    def __init__(self, verdict: IsOwn = is_own) -> None:
        self._verdict = verdict
        self._asked: dict[int, float] = {}
        """Monotonic time, in seconds, at which the kernel last confirmed that a port belongs to a process of this user,
        by port.
        """
        self.port = 0
        """Port of the server itself; 0 until the server is bound."""

    def intercept_service(self, continuation: Any, handler_call_details: Any) -> Any:
        handler = continuation(handler_call_details)
        if handler is None or handler.unary_unary is None:
            return None  # no provider method streams

        def guarded(request: Any, context: grpc.ServicerContext) -> Any:
            match = _PEER.fullmatch(context.peer())
            if match is None or not self._serves(int(match[1])):
                context.abort(grpc.StatusCode.PERMISSION_DENIED, "this provider serves its own user's processes only")
            return handler.unary_unary(request, context)

        return grpc.unary_unary_rpc_method_handler(guarded, handler.request_deserializer, handler.response_serializer)

    def _serves(self, peer: int) -> bool:
        now = time.monotonic()
        if now - self._asked.get(peer, -REMEMBERED_SECONDS) < REMEMBERED_SECONDS:
            return True
        if self._verdict(peer, self.port):
            self._asked[peer] = now
            return True
        return False
