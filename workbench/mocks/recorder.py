"""Runs of the program without the Pulumi engine, in which every declared resource is recorded with its options."""

from __future__ import annotations

import base64
import contextvars
import datetime
import json
import os
import runpy
from collections.abc import Callable, Coroutine, Mapping
from contextlib import nullcontext
from functools import cache
from typing import Any, TypeVar
from unittest import mock

import pulumi
from pulumi import _types  # pyright: ignore[reportPrivateUsage]  # no public name
from pulumi.runtime import mocks, rpc
from pulumi.runtime.config import set_all_config
from pulumi.runtime.proto import resource_pb2, source_pb2

from components.config import SIMULATED_VARIABLE
from components.platform.taken_over import READ
from physical_ai.repository import PROJECT, PROJECT_NAME, import_from_project
from workbench.mocks.azure_answers import AKS_KUBECONFIG, DEPLOYER, SUBSCRIPTION, computes, created, guid
from workbench.mocks.event_loop import own_event_loop
from workbench.mocks.existing_answers import described_cluster
from workbench.policies import Options, Resource, Stack
from workbench.policies.wire import plain

_T = TypeVar("_T")
_UNWRAPPED, _UNWRAPPED_OPTIONAL = cache(_types.unwrap_type), cache(_types.unwrap_optional_type)
"""The SDK's functions that take a type apart, each with its answers."""


class Refusal(Exception):
    """Error if the program did something that the engine would refuse."""


class _NoMocks(mocks.Mocks):
    def __init__(self, subscription: str = SUBSCRIPTION) -> None:
        self._subscription = subscription

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str | None, dict[str, Any]]:
        raise AssertionError("the recorder answers registrations itself")

    def call(self, args: mocks.MockCallArgs) -> tuple[dict[str, Any], list[tuple[str, str]] | None]:
        if args.token == "azure-native:authorization:getClientConfig":  # noqa: S105 - no password
            return {
                "clientId": guid("cli"),
                "objectId": DEPLOYER,
                "subscriptionId": self._subscription,
                "tenantId": guid("tenant"),
            }, []
        if args.token == "azure-native:authorization:getClientToken":  # noqa: S105 - as above
            return {"token": ""}, []  # a run without an engine has no login
        if args.token == "azure-native:containerservice:listManagedClusterUserCredentials":  # noqa: S105 - as above
            value = base64.b64encode(AKS_KUBECONFIG.encode()).decode()
            return {"kubeconfigs": [{"name": "clusterUser", "value": value}]}, []
        if args.token == "azure-native:redisenterprise:listDatabaseKeys":  # noqa: S105 - as above
            # Base64 with every character that needs an escape in an address or a shell.
            return {kind: f"{guid(kind)}/+=" for kind in ("primaryKey", "secondaryKey")}, []
        if args.token == READ:
            return {"outputs": {}}, []  # as of a new stack
        raise Refusal(f"the program calls {args.token}, which this recorder does not answer")


class Recorder(mocks.MockMonitor):
    """Replacement of the engine that records each resource that the program registers.

    With `preview`, the program receives unknown values for everything that Azure computes, including names.
    """

    def __init__(self, *, preview: bool, subscription: str = SUBSCRIPTION) -> None:
        super().__init__(_NoMocks(subscription))
        self.preview, self.subscription = preview, subscription
        self.exports: dict[str, Any] = {}
        self._recorded: dict[str, Resource] = {}
        self._duplicates: list[str] = []

    @property
    def declared_resources(self) -> tuple[Resource, ...]:
        """All recorded resources, sorted by type and name.

        Raises:
            AssertionError: a resource was declared twice.
        """
        assert not self._duplicates, f"declared twice: {self._duplicates}"
        return tuple(sorted(self._recorded.values(), key=lambda each: (each.type, each.name)))

    def RegisterResource(self, request: Any) -> Any:
        urn = self.make_urn(request.parent, request.type, request.name)
        if request.type == "pulumi:pulumi:Stack":
            return resource_pb2.RegisterResourceResponse(urn=urn)
        self.keep(urn, request)
        if not request.custom:
            return resource_pb2.RegisterResourceResponse(urn=urn)
        if self.preview:
            return resource_pb2.RegisterResourceResponse(urn=urn)
        if not computes(request.type):
            return resource_pb2.RegisterResourceResponse(urn=urn, id=request.name, object=request.object)
        known_inputs = rpc.deserialize_properties(request.object)
        id_, outputs = created(request.type, request.name, known_inputs, self.subscription)
        wire = _result(rpc.serialize_properties(outputs, {}))
        return resource_pb2.RegisterResourceResponse(urn=urn, id=id_, object=wire)

    def ReadResource(self, request: Any) -> Any:
        """Answers a read with the properties of the request. The resource is not recorded, because policies ignore
        resources that the program only reads.
        """
        urn = self.make_urn(request.parent, request.type, request.name)
        return resource_pb2.ReadResourceResponse(urn=urn, properties=request.properties)

    def keep(self, urn: str, request: Any) -> None:
        """Records the resource that the program registers with `request`."""
        if urn in self._recorded:
            self._duplicates.append(urn)
        inputs = {key: plain(value) for key, value in request.object.fields.items()}
        self._recorded[urn] = Resource(request.type, request.name, inputs, _options(request), urn, request.custom)

    def register_error_hook(self, hook: pulumi.ErrorHook) -> None:
        """Accepts an error hook and ignores it. The SDK would pass it to a callback server, which only a real engine
        has.
        """

    def register_resource_hook(self, hook: pulumi.ResourceHook) -> None:
        """Accepts a resource hook and ignores it, as `register_error_hook` does."""


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
        retain_on_delete=request.retainOnDelete,
    )


def declared(
    stack: str, config: Mapping[str, Any], *, preview: bool, today: datetime.date, subscription: str = SUBSCRIPTION
) -> Stack:
    """The resources that the program declares for a stack in a simulation, in the form that policies read.

    Args:
        config: The complete configuration: values by key, without the project's prefix.
        preview: True if values that Azure computes are unknown, as in a first preview.
        today: The day for which the support of versions is checked.
        subscription: Id of the login's subscription, which determines ids and names of the data services.

    Raises:
        pulumi.RunError: the program refused its settings.
    """
    recorder = Recorder(preview=preview, subscription=subscription)
    run_program(recorder, stack, config, simulated=True, today=today)
    environment, _, region = stack.partition("-")
    return Stack(environment, recorder.declared_resources, region=region)


def run_program(
    recorder: Recorder, stack: str, config: Mapping[str, Any], *, simulated: bool, today: datetime.date
) -> None:
    """Runs `__main__` as the engine would. `simulated`: True to run the program as in the simulator."""
    with mock.patch("components.config.today", return_value=today):
        contextvars.Context().run(_run, recorder, stack, config, simulated)


def _run(recorder: Recorder, stack: str, config: Mapping[str, Any], simulated: bool) -> None:
    # Objects, numbers and booleans reach a program as JSON, text as it is.
    wire = {
        f"{PROJECT_NAME}:{key}": value if isinstance(value, str) else json.dumps(value) for key, value in config.items()
    }
    set_all_config(wire, [f"{PROJECT_NAME}:secrets"])

    def program() -> pulumi.Output[None]:
        pulumi.runtime.register_stack_transformation(_without_aliases)
        import_from_project()
        runpy.run_path(str(PROJECT / "__main__.py"), run_name="__main__")
        root: Any = pulumi.runtime.get_root_resource()
        return pulumi.Output.all(**root.outputs).apply(recorder.exports.update)

    with (
        own_event_loop(),
        mock.patch.dict(os.environ, {"PULUMI_CONFIG": "{}", SIMULATED_VARIABLE: "1" if simulated else ""}),
        # Looking up source lines, which nothing here shows, takes a tenth of a run's time.
        mock.patch("pulumi.runtime.resource._get_stack_trace", source_pb2.StackTrace),
        mock.patch("pulumi.log.debug", _no_debug),
        # The URN that the SDK computes for each resource is read only where no monitor answers.
        mock.patch("pulumi.runtime.resource.create_urn", _UnreadUrn),
        # Only a preview has unknown values. Searching each value for them takes a twelfth of a run's time.
        nullcontext() if recorder.preview else mock.patch("pulumi.output.contains_unknowns", _is_known),
        # The SDK takes the type of each property of each resource apart again: a fifteenth of a run's time.
        mock.patch("pulumi._types.unwrap_type", _UNWRAPPED),
        mock.patch("pulumi._types.unwrap_optional_type", _UNWRAPPED_OPTIONAL),
        mock.patch("components.config.pulled_charts", _none_recorded),
        mock.patch("components.config.plugin_problems", _no_problems),
        mock.patch("components.kubernetes.existing_cluster.open_cluster", described_cluster),
        mock.patch("components.gates.gpu_gate.connect", _cluster_without_nodes),
        mock.patch("components.gates.osmo_gate.connect", _cluster_with_osmo),
        mock.patch("components.gates.release_gate.connect", _cluster_with_releases),
    ):
        mocks.set_mocks(
            _NoMocks(recorder.subscription),
            project=PROJECT_NAME,
            stack=stack,
            preview=recorder.preview,
            monitor=recorder,
        )
        setattr(pulumi.runtime.settings.SETTINGS, "callbacks", recorder)  # noqa: B010 - not in the type stubs
        mocks.test(program)()  # pyright: ignore[reportUnknownMemberType]  # untyped


def _none_recorded(stack: str) -> list[tuple[str, str]]:
    """Replacement for the check of downloaded charts. It finds no problems, because a recording downloads no charts."""
    return []


def _no_problems() -> list[tuple[str, str, str]]:
    """Replacement for the check of Pulumi's plugins. It finds no problems, because a recording uses no plugins."""
    return []


def _cluster_without_nodes(kubeconfig: str) -> Callable[[str, Mapping[str, str]], Any]:
    """Mocked cluster for the GPU gate. It has no nodes, so the gate waits for nothing."""
    return lambda path, parameters: {"items": []}


def _cluster_with_osmo(kubeconfig: str) -> Callable[[str, Mapping[str, str]], Any]:
    """Mocked cluster for the OSMO gate. The scheduler and OSMO's agents are available, and no workflow runs."""
    item = {"metadata": {"name": "x"}, "spec": {"replicas": 1}}
    status = {"availableReplicas": 1, "conditions": [{"type": "Available", "status": "True"}]}

    def get(path: str, parameters: Mapping[str, str]) -> Any:
        return {"metadata": {}, "items": [] if path.endswith("/pods") else [{**item, "status": status}]}

    return get


def _cluster_with_releases(kubeconfig: str) -> Callable[[str, Mapping[str, str]], Any]:
    """Mocked cluster for the release gate. Every Helm release has the status `deployed`."""
    labels = {"owner": "helm", "version": "1", "status": "deployed"}
    return lambda path, parameters: {"items": [{"metadata": {"labels": labels}}]}


class _UnreadUrn:
    """Replacement for the URN that `pulumi.runtime.resource.create_urn` returns. It has no value, because nothing reads
    the URN.
    """

    def __init__(self, *_: object) -> None:
        """Ignores its arguments, the parts of the URN."""

    async def future(self) -> None:
        """Returns nothing. The SDK awaits this future even if nothing reads the URN."""


def _is_known(_: object) -> bool:
    """Replacement for `pulumi.output.contains_unknowns`: no recorded value is unknown."""
    return False


def _result(work: Coroutine[Any, Any, _T]) -> _T:
    """Result of a coroutine that never waits, because all its values are known."""
    try:
        work.send(None)
    except StopIteration as end:
        return end.value
    raise AssertionError("it waits for a value that is not known")


def _no_debug(*_: object, **__: object) -> None:
    """Replacement for `pulumi.log.debug`, which would send the text to an engine. It does nothing."""


def _without_aliases(args: pulumi.ResourceTransformationArgs) -> pulumi.ResourceTransformationResult:
    """Transformation that removes a resource's aliases.

    azure-native gives each resource about a hundred aliases, one for each API version. Turning them into URNs takes
    nine tenths of a run's time, and nothing here reads them.
    """
    args.opts.aliases = None
    return pulumi.ResourceTransformationResult(args.props, args.opts)
