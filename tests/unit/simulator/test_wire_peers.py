"""Providers on loopback answer their own user only."""

from __future__ import annotations

import os
import socket
from typing import Any

import grpc
import pytest
from google.protobuf import empty_pb2
from pulumi.runtime.proto import provider_pb2_grpc

from simulator.wire import peers
from simulator.wire.host import ProviderHost
from simulator.wire.peers import TABLES, is_own, owner, sockets
from tests.unit.simulator.test_wire import Toy

ELSE = 65534
"""Another user: nobody."""


def connected_as(user: int, port: int) -> socket.socket:
    """A connection of another user's process, which hands it over: the kernel keeps who made it."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    child = os.fork()
    if not child:
        os.setuid(user)
        made = socket.create_connection(("127.0.0.1", port))
        socket.send_fds(theirs, [b"x"], [made.fileno()])
        os._exit(0)
    _, (descriptor,), _, _ = socket.recv_fds(ours, 1, 1)
    os.waitpid(child, 0)
    return socket.socket(fileno=descriptor)


@pytest.fixture
def port() -> Any:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_a_connection_of_this_user_is_its_own(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port)) as made:
        assert is_own(made.getsockname()[1], port)
        assert not is_own(made.getsockname()[1], port + 1), "another server's connection"


@pytest.mark.skipif(os.getuid() != 0 or not TABLES[0].exists(), reason="only root can be another user")
def test_a_connection_of_another_user_is_not(port: int) -> None:
    with connected_as(ELSE, port) as made:
        peer = made.getsockname()[1]
        assert owner(sockets(), peer, port) == ELSE
        assert not is_own(peer, port)


def test_a_peer_without_a_connection_is_unknown(port: int) -> None:
    assert owner(sockets(), 1, port) is None
    assert not is_own(1, port)


def test_every_call_of_another_user_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with ProviderHost(Toy) as host:
        _, _, port = host.attach_env().partition(":")
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            stub: Any = provider_pb2_grpc.ResourceProviderStub(channel)
            stub.GetPluginInfo(empty_pb2.Empty())
            monkeypatch.setattr(os, "getuid", lambda: ELSE)
            monkeypatch.setattr(peers, "REMEMBERED_SECONDS", 0)
            for call in (stub.GetPluginInfo, stub.Cancel):
                with pytest.raises(grpc.RpcError) as refused:
                    call(empty_pb2.Empty())
                assert refused.value.code() == grpc.StatusCode.PERMISSION_DENIED
