"""The gRPC side of a provider: it decodes requests, calls the plain methods, and encodes answers and errors."""

from __future__ import annotations

import json
import re
import threading
import traceback
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

import grpc
from google.protobuf import any_pb2, empty_pb2
from google.rpc import status_pb2  # pyright: ignore[reportMissingTypeStubs]  # googleapis ships none
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc

from simulator.wire.encoding import decode, encode
from simulator.wire.provider import Diff, Failure, NotReady, Provider, Refused, Request
from simulator.wire.values import under

Context = grpc.ServicerContext
Answer = TypeVar("Answer")


class ProviderServicer(provider_pb2_grpc.ResourceProviderServicer):
    """Servicer for every instance of one package's provider.

    Resource requests do not name the provider instance that they are for, but the engine opens one connection for each
    instance; the peer's address identifies the connection.
    """

    def __init__(self, make: Callable[[], Provider], package: str, version: str) -> None:
        self._make, self._package, self._version = make, package, version
        self._instances: dict[str, Provider] = {}
        self._lock = threading.Lock()

    def _instance(self, context: Context) -> Provider:
        with self._lock:
            peer = context.peer()
            if peer not in self._instances:
                self._instances[peer] = self._make()
            return self._instances[peer]

    def _answer(self, context: Context, call: Callable[[Provider], Answer]) -> Answer:
        try:
            return call(self._instance(context))
        except NotReady as problem:
            _abort_not_ready(context, problem)
        except Refused as problem:
            context.abort(grpc.StatusCode.UNKNOWN, str(problem))
        except Exception:
            context.abort(grpc.StatusCode.INTERNAL, f"a fault in the simulator itself:\n{traceback.format_exc()}")

    # Plumbing

    def Handshake(self, request: Any, context: Context) -> Any:
        return provider_pb2.ProviderHandshakeResponse(
            accept_secrets=False, accept_resources=False, accept_outputs=False, supports_autonaming_configuration=True
        )

    def Attach(self, request: Any, context: Context) -> Any:
        return empty_pb2.Empty()

    def Cancel(self, request: Any, context: Context) -> Any:
        # The engine closes a replaced provider in the middle of a deployment, while its successor works.
        with self._lock:
            instance = self._instances.get(context.peer())
        if instance is not None:
            instance.cancel()
        return empty_pb2.Empty()

    def GetPluginInfo(self, request: Any, context: Context) -> Any:
        return plugin_pb2.PluginInfo(version=self._version)

    def GetSchema(self, request: Any, context: Context) -> Any:
        return provider_pb2.GetSchemaResponse(schema=json.dumps({"name": self._package, "version": self._version}))

    def GetMapping(self, request: Any, context: Context) -> Any:
        return provider_pb2.GetMappingResponse()

    def GetMappings(self, request: Any, context: Context) -> Any:
        return provider_pb2.GetMappingsResponse()

    # Configuration

    def CheckConfig(self, request: Any, context: Context) -> Any:
        return self._answer(
            context, lambda provider: _checked(*provider.check_config(decode(request.olds), decode(request.news)))
        )

    def DiffConfig(self, request: Any, context: Context) -> Any:
        return self._answer(
            context,
            lambda provider: _diffed(
                provider.diff_config(decode(request.old_inputs), decode(request.olds), decode(request.news)),
                list(request.ignoreChanges),
            ),
        )

    def Configure(self, request: Any, context: Context) -> Any:
        def configure(provider: Provider) -> Any:
            provider.configure(decode(request.args))
            return provider_pb2.ConfigureResponse(
                acceptSecrets=False,
                supportsPreview=True,
                acceptResources=False,
                acceptOutputs=False,
                supports_autonaming_configuration=True,
            )

        return self._answer(context, configure)

    def Invoke(self, request: Any, context: Context) -> Any:
        def invoke(provider: Provider) -> Any:
            response = provider_pb2.InvokeResponse()
            getattr(response, "return").CopyFrom(encode(provider.invoke(request.tok, decode(request.args))))
            return response

        return self._answer(context, invoke)

    # Resources

    def Check(self, request: Any, context: Context) -> Any:
        return self._answer(
            context,
            lambda provider: _checked(*provider.check(_request(request), decode(request.olds), decode(request.news))),
        )

    def Diff(self, request: Any, context: Context) -> Any:
        return self._answer(
            context,
            lambda provider: _diffed(
                provider.diff(
                    _request(request), decode(request.old_inputs), decode(request.olds), decode(request.news)
                ),
                list(request.ignoreChanges),
            ),
        )

    def Create(self, request: Any, context: Context) -> Any:
        def create(provider: Provider) -> Any:
            id, outputs = provider.create(_request(request), decode(request.properties))
            return provider_pb2.CreateResponse(id="" if request.preview else id, properties=encode(outputs))

        return self._answer(context, create)

    def Read(self, request: Any, context: Context) -> Any:
        def read(provider: Provider) -> Any:
            id, outputs, inputs = provider.read(_request(request), decode(request.properties), decode(request.inputs))
            return provider_pb2.ReadResponse(id=id, properties=encode(outputs), inputs=encode(inputs))

        return self._answer(context, read)

    def Update(self, request: Any, context: Context) -> Any:
        def update(provider: Provider) -> Any:
            outputs = provider.update(
                _request(request), decode(request.old_inputs), decode(request.olds), decode(request.news)
            )
            return provider_pb2.UpdateResponse(properties=encode(outputs))

        return self._answer(context, update)

    def Delete(self, request: Any, context: Context) -> Any:
        def delete(provider: Provider) -> Any:
            provider.delete(_request(request), decode(request.old_inputs), decode(request.properties))
            return empty_pb2.Empty()

        return self._answer(context, delete)


def _request(request: Any) -> Request:
    """Facts about the resource of a provider request. A field that this kind of request lacks gets its
    default value.
    """
    *_, types, name = request.urn.split("::")
    autonaming = getattr(request, "autonaming", None)
    return Request(
        urn=request.urn,
        type=types.rsplit("$", 1)[-1],
        name=name,
        id=getattr(request, "id", ""),
        preview=getattr(request, "preview", False),
        timeout=getattr(request, "timeout", 0),
        proposed_name=autonaming.proposed_name if autonaming is not None else "",
        random_seed=getattr(request, "randomSeed", b""),
    )


def _checked(inputs: dict[str, Any], failures: list[Failure]) -> Any:
    return provider_pb2.CheckResponse(
        inputs=encode(inputs),
        failures=[provider_pb2.CheckFailure(property=f.property, reason=f.reason) for f in failures],
    )


def _diffed(diff: Diff, ignored: list[str]) -> Any:
    kept = {path: how for path, how in diff.changes.items() if not any(under(path, prefix) for prefix in ignored)}
    replacing = {path for path in kept if any(under(path, prefix) for prefix in diff.replaces)}
    kinds = provider_pb2.PropertyDiff

    def kind(path: str, how: str) -> Any:
        return getattr(kinds, how.upper() + ("_REPLACE" if path in replacing else ""))

    return provider_pb2.DiffResponse(
        changes=provider_pb2.DiffResponse.DIFF_SOME if kept else provider_pb2.DiffResponse.DIFF_NONE,
        replaces=sorted(replacing),
        diffs=sorted({re.split(r"[.\[]", path)[0] for path in kept}),
        deleteBeforeReplace=bool(replacing) and diff.delete_before_replace,
        hasDetailedDiff=True,
        detailedDiff={
            path: kinds(kind=kind(path, how), inputDiff=diff.of_inputs or how == "delete") for path, how in kept.items()
        },
    )


def _abort_not_ready(context: Context, problem: NotReady) -> NoReturn:
    """Ends a call with the partial failure as a status detail; without this detail, the engine would not know that the
    object exists.
    """
    detail = any_pb2.Any()
    detail.Pack(
        provider_pb2.ErrorResourceInitFailed(
            id=problem.id,
            properties=encode(problem.outputs),
            reasons=list(problem.reasons),
            inputs=encode(problem.inputs) if problem.inputs is not None else None,
        )
    )
    status = status_pb2.Status(code=grpc.StatusCode.UNKNOWN.value[0], message=str(problem), details=[detail])
    context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
    context.abort(grpc.StatusCode.UNKNOWN, str(problem))
