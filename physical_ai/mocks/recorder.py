"""Runs the program without an engine and records every resource it declares, options included."""

from __future__ import annotations

import asyncio
import base64
import contextvars
import datetime
import json
import os
import runpy
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import pulumi
import yaml
from pulumi.runtime import mocks, rpc
from pulumi.runtime.config import set_all_config
from pulumi.runtime.proto import resource_pb2
from pulumi.runtime.sync_await import (
    _ensure_event_loop,  # pyright: ignore[reportPrivateUsage]
    _sync_await,  # pyright: ignore[reportPrivateUsage]
)

from components.config import SIMULATED_VARIABLE
from physical_ai.mocks.azure_answers import AKS_KUBECONFIG, DEPLOYER, SUBSCRIPTION, azure_name, created, guid
from physical_ai.policies import Options, Resource, Stack
from physical_ai.policies.wire import plain
from physical_ai.repository import ROOT
from physical_ai.settings.guards import is_mapping

PROJECT = "physical-ai"
TODAY = datetime.date(2026, 11, 20)


class Refusal(Exception):
    """The program did something that the engine would have refused."""


class _NoMocks(mocks.Mocks):
    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str | None, dict[str, Any]]:
        raise AssertionError("the recorder answers registrations itself")

    def call(self, args: mocks.MockCallArgs) -> tuple[dict[str, Any], list[tuple[str, str]] | None]:
        if args.token == "azure-native:authorization:getClientConfig":  # noqa: S105 - no password
            return {
                "clientId": guid("cli"),
                "objectId": DEPLOYER,
                "subscriptionId": SUBSCRIPTION,
                "tenantId": guid("tenant"),
            }, []
        if args.token == "azure-native:containerservice:listManagedClusterUserCredentials":  # noqa: S105
            value = base64.b64encode(AKS_KUBECONFIG.encode()).decode()
            return {"kubeconfigs": [{"name": "clusterUser", "value": value}]}, []
        raise Refusal(f"the program calls {args.token}, which this recorder does not answer")


class Recorder(mocks.MockMonitor):
    """Keeps each registration as it was sent. With `preview`, nothing that Azure computes is known, names included."""

    def __init__(self, *, preview: bool) -> None:
        super().__init__(_NoMocks())
        self.preview = preview
        self.recorded: dict[str, Resource] = {}
        self.duplicates: list[str] = []
        self.hooks: dict[str, pulumi.ErrorHook] = {}
        self.hooked: dict[str, tuple[str, ...]] = {}
        self.resource_hooks: dict[str, pulumi.ResourceHook] = {}
        self.guarded: dict[str, tuple[str, ...]] = {}
        self._lock = threading.Lock()

    def RegisterResource(self, request: Any) -> Any:
        urn = self.make_urn(request.parent, request.type, request.name)
        if request.type == "pulumi:pulumi:Stack":
            return resource_pb2.RegisterResourceResponse(urn=urn)
        _ensure_event_loop()
        inputs = {key: plain(value) for key, value in request.object.fields.items()}
        with self._lock:
            if urn in self.recorded:
                self.duplicates.append(urn)
            self.recorded[urn] = Resource(request.type, request.name, inputs, _options(request), urn, request.custom)
            self.hooked[urn] = tuple(request.hooks.on_error)
            self.guarded[urn] = tuple(request.hooks.before_update)
        if not request.custom:
            return resource_pb2.RegisterResourceResponse(urn=urn)
        known_inputs = rpc.deserialize_properties(request.object)
        if self.preview:
            return resource_pb2.RegisterResourceResponse(urn=urn)
        id_, outputs = created(request.type, request.name, known_inputs)
        wire = _sync_await(rpc.serialize_properties(outputs, {}))
        return resource_pb2.RegisterResourceResponse(urn=urn, id=id_, object=wire)

    def register_error_hook(self, hook: pulumi.ErrorHook) -> None:
        """Stands in for the callback server, which exists beside a real engine only."""
        self.hooks[hook.name] = hook

    def register_resource_hook(self, hook: pulumi.ResourceHook) -> None:
        self.resource_hooks[hook.name] = hook


def _options(request: Any) -> Options:
    return Options(
        parent=request.parent,
        provider=request.provider,
        protect=request.protect,
        depends_on=tuple(sorted(request.dependencies)),  # the SDK gathers them in a set
        ignore_changes=tuple(request.ignoreChanges),
        replace_on_changes=tuple(request.replaceOnChanges),
        delete_before_replace=request.deleteBeforeReplace,
        deleted_with=request.deletedWith,
        replace_with=tuple(request.replace_with),
    )


@dataclass(frozen=True)
class Recording:
    """What one run of the program declared and exported."""

    name: str
    resources: tuple[Resource, ...]
    exports: Mapping[str, Any]
    hooks: Mapping[str, pulumi.ErrorHook] = field(repr=False)
    hooked: Mapping[str, tuple[str, ...]] = field(repr=False)
    """Names of a resource's error hooks, by URN."""
    resource_hooks: Mapping[str, pulumi.ResourceHook] = field(repr=False)
    guarded: Mapping[str, tuple[str, ...]] = field(repr=False)
    """Names of the hooks that run before a resource's updates, by URN."""

    def of_type(self, kind: str) -> list[Resource]:
        """Resources whose type's last part is `kind`, by name."""
        return [each for each in self.resources if each.type.rpartition(":")[2] == kind]

    def resource(self, kind: str, name: str) -> Resource:
        """The one resource of `kind` with `name`, logical or its own in Azure or Kubernetes."""
        found = [each for each in self.of_type(kind) if name in (each.name, azure_name(each.type, each.inputs))]
        assert len(found) == 1, f"{len(found)} resources of type {kind} are called {name!r}"
        return found[0]

    @property
    def stack(self) -> Stack:
        """The recording as policies read it."""
        environment, _, region = self.name.partition("-")
        return Stack(environment, self.resources, region=region)


def stack_config(stack: str) -> dict[str, Any]:
    """The `config:` of a committed stack file, without the project prefix."""
    document: dict[str, Any] = yaml.safe_load((ROOT / "stacks" / f"Pulumi.{stack}.yaml").read_text()) or {}
    config: dict[str, Any] = document.get("config") or {}
    return {key.removeprefix(f"{PROJECT}:"): value for key, value in config.items()}


def merged(lower: Any, upper: Any) -> Any:
    """`upper` over `lower`: maps recursively, everything else replaced. A null stays, for the program to read."""
    if not is_mapping(lower) or not is_mapping(upper):
        return upper
    return {**lower, **{key: merged(lower.get(key), value) for key, value in upper.items()}}


def record(
    stack: str,
    overrides: Mapping[str, Any] | None = None,
    *,
    preview: bool = False,
    simulated: bool = True,
    today: datetime.date = TODAY,
) -> Recording:
    """Run `__main__` as the engine would, with `overrides` over the stack file, and record it.

    `simulated` says whether the program is told, as the simulator tells it, that there is no Azure. `today` is the day
    at which it judges versions.

    Raises:
        pulumi.RunError: the program refused its settings.
        AssertionError: it declared one resource twice.
    """
    config = merged(stack_config(stack), overrides or {})
    return record_config(stack, config, preview=preview, simulated=simulated, today=today)


def record_config(
    stack: str, config: Mapping[str, Any], *, preview: bool, simulated: bool, today: datetime.date
) -> Recording:
    """Like `record`, with the whole configuration instead of a stack file: values by key, without the prefix."""
    with mock.patch("components.config.today", return_value=today):
        return contextvars.Context().run(_record, stack, config, preview, simulated)


def _record(stack: str, config: Mapping[str, Any], preview: bool, simulated: bool) -> Recording:
    # Objects, numbers and booleans reach a program as JSON, text as it is.
    wire = {f"{PROJECT}:{key}": value if isinstance(value, str) else json.dumps(value) for key, value in config.items()}
    set_all_config(wire, [f"{PROJECT}:secrets"])
    recorder = Recorder(preview=preview)
    exports: dict[str, Any] = {}

    def program() -> pulumi.Output[None]:
        pulumi.runtime.register_stack_transformation(_without_aliases)
        runpy.run_path(str(ROOT / "__main__.py"), run_name="__main__")
        root: Any = pulumi.runtime.get_root_resource()
        return pulumi.Output.all(**root.outputs).apply(exports.update)

    with (
        _event_loop(),
        mock.patch.dict(os.environ, {"PULUMI_CONFIG": "{}", SIMULATED_VARIABLE: "1" if simulated else ""}),
        mock.patch("components.gpu_gate.connect", _cluster_without_nodes),
        mock.patch("components.osmo_gate.connect", _cluster_with_osmo),
    ):
        mocks.set_mocks(_NoMocks(), project=PROJECT, stack=stack, preview=preview, monitor=recorder)
        setattr(pulumi.runtime.settings.SETTINGS, "callbacks", recorder)  # noqa: B010
        mocks.test(program)()  # pyright: ignore[reportUnknownMemberType]
    assert not recorder.duplicates, f"declared twice: {recorder.duplicates}"
    ordered = sorted(recorder.recorded.values(), key=lambda each: (each.type, each.name))
    return Recording(
        stack,
        tuple(ordered),
        exports,
        recorder.hooks,
        recorder.hooked,
        recorder.resource_hooks,
        recorder.guarded,
    )


def _cluster_without_nodes(kubeconfig: str) -> Callable[[str, Mapping[str, str]], Any]:
    """The cluster that the program reads at its end; with no node there is nothing to wait for."""
    return lambda path, parameters: {"items": []}


def _cluster_with_osmo(kubeconfig: str) -> Callable[[str, Mapping[str, str]], Any]:
    """The cluster that the program waits for: scheduler and agents are available, and no workflow runs."""
    there = {"metadata": {"name": "x"}, "spec": {"replicas": 1}}
    status = {"availableReplicas": 1, "conditions": [{"type": "Available", "status": "True"}]}

    def get(path: str, parameters: Mapping[str, str]) -> Any:
        return {"metadata": {}, "items": [] if path.endswith("/pods") else [{**there, "status": status}]}

    return get


@contextmanager
def _event_loop() -> Generator[None]:
    """A loop of the run's own: what other tests do with theirs neither helps nor hurts."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        yield
    finally:
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()
        asyncio.set_event_loop(None)


def _without_aliases(args: pulumi.ResourceTransformationArgs) -> pulumi.ResourceTransformationResult:
    """azure-native gives each resource about a hundred aliases, one for each API version; turning them into URNs takes
    nine tenths of a run's time, and nothing here reads them."""
    args.opts.aliases = None
    return pulumi.ResourceTransformationResult(args.props, args.opts)
