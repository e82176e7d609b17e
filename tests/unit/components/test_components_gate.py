"""The gate as a part of the program: what a deployment and a preview do with it. No cluster is asked."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Mapping
from typing import Any

import pulumi
import pytest
from pulumi.runtime import mocks

from components.gates.gpu_gate import GpuGate, GpuGateArgs
from physical_ai.readiness import Expected, Unreachable, Unusable
from physical_ai.readiness.waiting import GATE_SECONDS_VARIABLE, GATES_VARIABLE

H100 = Expected("h100gpu", {"nvidia.com/gpu": 1}, "operator")
RTX = Expected("rtxprogpu", {"nvidia.com/gpu": 1}, "grid")


def gpu_node(gpus: int, pool: str = "h100gpu") -> dict[str, Any]:
    return {
        "metadata": {"name": f"aks-{pool}-0", "labels": {"agentpool": pool}},
        "status": {
            "allocatable": {"nvidia.com/gpu": str(gpus)},
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


class Api:
    """An API server that holds these nodes."""

    def __init__(self, *nodes: Mapping[str, Any], problem: Exception | None = None) -> None:
        self.nodes, self.problem = list(nodes), problem
        self.kubeconfigs: list[str] = []
        self.paths: list[str] = []

    def connect(self, kubeconfig: str) -> Any:
        self.kubeconfigs.append(kubeconfig)

        def get(path: str, _: Mapping[str, str]) -> Any:
            self.paths.append(path)
            if self.problem is not None:
                raise self.problem
            return {"items": self.nodes if path == "/api/v1/nodes" else []}

        return get


class Made(mocks.Mocks):
    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str | None, dict[str, Any]]:
        return f"{args.name}-id", dict(args.inputs)

    def call(self, args: mocks.MockCallArgs) -> tuple[dict[str, Any], list[tuple[str, str]] | None]:
        raise AssertionError(args.token)


def deploy(api: Api, *, timeout: int = 1, preview: bool = False) -> tuple[Any, str]:
    """Value of the gate's output, and the failure that ends the program; empty when it goes well."""

    found: list[Any] = []

    def program() -> pulumi.Output[None]:
        args = GpuGateArgs("a kubeconfig", [H100, RTX], timeout, [], connect=api.connect)
        gate = GpuGate("gate", args)
        return pulumi.Output.all(gate.gpus).apply(found.extend)

    failure = run(program, preview=preview)
    return (found or [None])[0], failure


def run(program: Callable[[], pulumi.Output[None]], *, preview: bool) -> str:
    """The failure that ends a program; empty when it goes well."""

    def isolated() -> str:
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
        try:
            mocks.set_mocks(Made(), preview=preview)
            mocks.test(program)()
        except pulumi.RunError as failure:
            return str(failure)
        finally:
            loop.run_until_complete(loop.shutdown_default_executor())
            loop.close()
            asyncio.set_event_loop(None)
        return ""

    return contextvars.Context().run(isolated)


@pytest.fixture(autouse=True)
def no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(GATE_SECONDS_VARIABLE, "0")


def test_open_gates_end_the_deployment_after_the_first_look() -> None:
    api = Api(gpu_node(1))
    gpus, failure = deploy(api)
    assert failure == ""
    assert api.kubeconfigs == ["a kubeconfig"]
    assert not any("/pods" in path for path in api.paths)
    assert gpus["h100gpu"]["state"] == "ready"
    assert gpus["h100gpu"]["gpus"] == {"nvidia.com/gpu": {"allocatable": 1, "expected": 1}}
    assert gpus["rtxprogpu"]["state"] == "empty"


def test_a_closed_gate_fails_the_deployment_and_is_in_the_output() -> None:
    gpus, failure = deploy(Api(gpu_node(0)))
    assert "h100gpu: 0 of 1 nvidia.com/gpu" in failure
    assert "node aks-h100gpu-0: gate 'nfd' is closed" in failure
    assert "fix: helm -n gpu-operator history gpu-operator" in failure
    assert "Created resources remain" in failure
    assert gpus["h100gpu"]["closed"][0]["gate"] == "nfd"


def test_timeout_zero_reads_once_and_the_deployment_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    warnings: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", warnings.append)
    gpus, failure = deploy(Api(gpu_node(0)), timeout=0)
    assert failure == ""
    assert gpus["h100gpu"]["state"] == "waiting"
    assert "gate 'nfd' is closed" in warnings[0]


def test_the_gate_reads_the_cluster_once_every_pool_is_settled() -> None:
    api, order = Api(gpu_node(1)), list[str]()

    def program() -> pulumi.Output[None]:
        async def last() -> str:
            await asyncio.sleep(0)
            order.extend(["settled", *api.kubeconfigs])
            return "rtxprogpu"

        args = GpuGateArgs(
            kubeconfig="a kubeconfig",
            expected=[H100],
            timeout_minutes=1,
            after=[],
            settled=["h100gpu", pulumi.Output.from_input(last())],
            connect=api.connect,
        )
        return GpuGate("gate", args).gpus.apply(lambda _: None)

    assert run(program, preview=False) == ""
    assert order == ["settled"]
    assert api.kubeconfigs == ["a kubeconfig"]


def test_a_closed_gate_names_the_way_to_delete_in_spite_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    _, failure = deploy(Api(gpu_node(0)))
    assert f"{GATES_VARIABLE}=report" in failure
    warnings: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", warnings.append)
    monkeypatch.setenv(GATES_VARIABLE, "report")
    monkeypatch.delenv(GATE_SECONDS_VARIABLE)
    assert deploy(Api(gpu_node(0)), timeout=45)[1] == ""
    assert "gate 'nfd' is closed" in warnings[0]


def test_a_preview_sends_no_request() -> None:
    api = Api(gpu_node(0))
    gpus, failure = deploy(api, preview=True)
    assert (gpus, failure) == (None, "")
    assert api.kubeconfigs == []


def test_an_unusable_login_fails_at_once_with_its_message() -> None:
    _, failure = deploy(Api(problem=Unusable("kubelogin is not on the PATH")), timeout=45)
    assert failure == "Whether the GPUs are ready is unknown: kubelogin is not on the PATH"


def test_an_api_server_that_never_answers_is_reported_when_time_is_up() -> None:
    _, failure = deploy(Api(problem=Unreachable("connection refused")))
    assert failure.startswith("Whether the GPUs are ready is unknown: connection refused\n")
