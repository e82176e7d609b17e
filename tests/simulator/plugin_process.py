"""Pulumi's own Kubernetes plugin as a provider: a process that is spoken to as the engine does."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from concurrent import futures
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import grpc
from google.protobuf import empty_pb2
from google.rpc import status_pb2  # pyright: ignore[reportMissingTypeStubs]  # googleapis ships none
from pulumi.runtime.proto import engine_pb2_grpc, provider_pb2, provider_pb2_grpc

from simulator.kubernetes.objects import INPUTS
from simulator.wire import Diff, Failure, NotReady, Provider, Refused, Request, Secret
from simulator.wire.encoding import decode, encode

Answer = TypeVar("Answer")


class _Engine(engine_pb2_grpc.EngineServicer):
    """Takes what the plugin logs."""

    def Log(self, request: Any, context: grpc.ServicerContext) -> Any:
        return empty_pb2.Empty()


@contextmanager
def plugin_process(plugin: Path, kubeconfig: str, folder: Path, tools: Path) -> Iterator[Provider]:
    """The plugin, configured for a cluster; `folder` is its working directory."""
    engine = grpc.server(futures.ThreadPoolExecutor(max_workers=8))
    engine_pb2_grpc.add_EngineServicer_to_server(_Engine(), engine)
    port = engine.add_insecure_port("127.0.0.1:0")
    engine.start()
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "HOME": str(folder)}
    process = subprocess.Popen(
        [str(plugin), f"127.0.0.1:{port}"], stdout=subprocess.PIPE, text=True, cwd=folder, env=environment
    )
    try:
        assert process.stdout is not None
        with grpc.insecure_channel(f"127.0.0.1:{process.stdout.readline().strip()}") as channel:
            made = PluginProvider(channel)
            made.configure({"kubeconfig": kubeconfig})
            yield made
    finally:
        process.kill()
        process.wait()
        engine.stop(None)


class PluginProvider(Provider):
    """The verbs of the process, with its errors as those of a stand-in."""

    package, version = "kubernetes", "official"

    def __init__(self, channel: grpc.Channel) -> None:
        self._stub = provider_pb2_grpc.ResourceProviderStub(channel)

    def configure(self, config: dict[str, Any]) -> None:
        variables = {f"kubernetes:config:{key}": value for key, value in config.items()}
        self._stub.Configure(
            provider_pb2.ConfigureRequest(
                args=encode(config), variables=variables, acceptSecrets=True, acceptResources=False
            )
        )

    def check(
        self, request: Request, old_inputs: dict[str, Any], inputs: dict[str, Any]
    ) -> tuple[dict[str, Any], list[Failure]]:
        answer = _called(
            self._stub.Check,
            provider_pb2.CheckRequest(
                urn=request.urn, olds=encode(old_inputs), news=encode(inputs), randomSeed=request.urn.encode()
            ),
        )
        return decode(answer.inputs), [Failure(each.property, each.reason) for each in answer.failures]

    def diff(
        self, request: Request, old_inputs: dict[str, Any], old_outputs: dict[str, Any], inputs: dict[str, Any]
    ) -> Diff:
        given = provider_pb2.DiffRequest(
            id=request.id,
            urn=request.urn,
            olds=encode(_kept(old_outputs)),
            news=encode(inputs),
            old_inputs=encode(old_inputs),
        )
        answer = _called(self._stub.Diff, given)
        kinds = {path: _kind(each.kind) for path, each in answer.detailedDiff.items()}
        # The plugin writes the path of replaceUnready alone with a dot before it, and lists no difference for it.
        return Diff(kinds, [*answer.replaces], answer.deleteBeforeReplace, of_inputs=False)

    def create(self, request: Request, inputs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        answer = _called(
            self._stub.Create,
            provider_pb2.CreateRequest(
                urn=request.urn, properties=encode(inputs), preview=request.preview, timeout=request.timeout
            ),
        )
        return answer.id, decode(answer.properties)

    def read(
        self, request: Request, outputs: dict[str, Any], inputs: dict[str, Any]
    ) -> tuple[str, dict[str, Any], dict[str, Any]]:
        answer = _called(
            self._stub.Read,
            provider_pb2.ReadRequest(
                id=request.id, urn=request.urn, properties=encode(_kept(outputs)), inputs=encode(inputs)
            ),
        )
        return answer.id, decode(answer.properties), decode(answer.inputs)

    def update(
        self, request: Request, old_inputs: dict[str, Any], old_outputs: dict[str, Any], inputs: dict[str, Any]
    ) -> dict[str, Any]:
        given = provider_pb2.UpdateRequest(
            id=request.id,
            urn=request.urn,
            olds=encode(_kept(old_outputs)),
            news=encode(inputs),
            old_inputs=encode(old_inputs),
            preview=request.preview,
            timeout=request.timeout,
        )
        return decode(_called(self._stub.Update, given).properties)

    def delete(self, request: Request, old_inputs: dict[str, Any], old_outputs: dict[str, Any]) -> None:
        given = provider_pb2.DeleteRequest(
            id=request.id,
            urn=request.urn,
            properties=encode(_kept(old_outputs)),
            old_inputs=encode(old_inputs),
            timeout=request.timeout,
        )
        _called(self._stub.Delete, given)


def _kept(outputs: Mapping[str, Any]) -> dict[str, Any]:
    """A state as the engine gives it back: the plugin has marked its own inputs secret."""
    return {key: Secret(value) if key == INPUTS else value for key, value in outputs.items()}


def _kind(value: Any) -> Any:
    return str(provider_pb2.PropertyDiff.Kind.Name(value)).removesuffix("_REPLACE").lower()


def _called(verb: Callable[[Any], Any], given: Any) -> Any:
    try:
        return verb(given)
    except grpc.RpcError as problem:
        raise _refusal(problem) from None


def _refusal(problem: Any) -> Refused | NotReady:
    metadata: Mapping[str, Any] = dict(problem.trailing_metadata() or ())
    status = status_pb2.Status.FromString(metadata.get("grpc-status-details-bin", b""))
    detail = provider_pb2.ErrorResourceInitFailed()
    for each in status.details:
        if each.Unpack(detail):
            inputs = decode(detail.inputs) if detail.HasField("inputs") else None
            return NotReady(detail.id, decode(detail.properties), list(detail.reasons), inputs)
    return Refused(str(problem.details()))
