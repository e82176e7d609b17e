"""Host that serves providers to the engine from this process, over gRPC on loopback.

The engine attaches through PULUMI_DEBUG_PROVIDERS: no plugin files are needed, and a breakpoint in a provider works.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent import futures
from types import TracebackType
from typing import Protocol, Self

import grpc
from pulumi.runtime.proto import provider_pb2_grpc

from simulator.wire.peers import OwnProcessesOnly
from simulator.wire.provider import Provider
from simulator.wire.servicer import ProviderServicer

_MAX_MESSAGE = 400 << 20
"""Largest size of a message in bytes, the same as the engine's own limit."""


class ProviderFactory(Protocol):
    """Factory of providers of one package. A `Provider` class whose constructor takes no arguments meets
    this protocol.
    """

    @property
    def package(self) -> str: ...
    @property
    def version(self) -> str: ...
    def __call__(self) -> Provider: ...


class ProviderHost:
    """Host of one gRPC server for each provider package. The servers run while the `with` block lasts."""

    def __init__(self, *factories: ProviderFactory | type[Provider]) -> None:
        self._servers: list[grpc.Server] = []
        self._ports: dict[str, int] = {}
        for factory in factories:
            guard = OwnProcessesOnly()
            server = grpc.server(
                futures.ThreadPoolExecutor(max_workers=64, thread_name_prefix=factory.package),
                interceptors=[guard],
                options=[("grpc.max_receive_message_length", _MAX_MESSAGE), ("grpc.so_reuseport", 0)],
            )
            servicer = ProviderServicer(_maker(factory), factory.package, factory.version)
            provider_pb2_grpc.add_ResourceProviderServicer_to_server(servicer, server)
            guard.port = self._ports[factory.package] = server.add_insecure_port("127.0.0.1:0")
            self._servers.append(server)

    def attach_env(self) -> str:
        """The value of PULUMI_DEBUG_PROVIDERS that makes an engine use these servers."""
        return ",".join(f"{package}:{port}" for package, port in self._ports.items())

    def __enter__(self) -> Self:
        for server in self._servers:
            server.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for stopped in [server.stop(grace=None) for server in self._servers]:
            stopped.wait()


def _maker(factory: ProviderFactory | type[Provider]) -> Callable[[], Provider]:
    return factory
