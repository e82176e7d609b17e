"""Cancelling one instance of a provider, as the engine does with a replaced one in the middle of a deployment."""

from __future__ import annotations

from typing import Any

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import provider_pb2, provider_pb2_grpc

from simulator.wire.host import ProviderHost
from tests.unit.simulator.test_wire import Toy

made: list[Cancellable] = []


class Cancellable(Toy):
    """A provider that remembers whether it was cancelled."""

    def __init__(self) -> None:
        super().__init__()
        self.is_cancelled = False
        made.append(self)

    def cancel(self) -> None:
        self.is_cancelled = True


def test_only_the_instance_of_the_connection_is_cancelled() -> None:
    made.clear()
    own = [("grpc.use_local_subchannel_pool", 1)]
    with ProviderHost(Cancellable) as host:
        _, _, port = host.attach_env().partition(":")
        with (
            grpc.insecure_channel(f"127.0.0.1:{port}", own) as replaced,
            grpc.insecure_channel(f"127.0.0.1:{port}", own) as successor,
        ):
            stubs: list[Any] = [provider_pb2_grpc.ResourceProviderStub(each) for each in (replaced, successor)]
            for stub in stubs:
                stub.Configure(provider_pb2.ConfigureRequest())
            stubs[0].Cancel(empty_pb2.Empty())
    assert [each.is_cancelled for each in made] == [True, False]
