"""`physai gates` and the table of `status`: what they print, and how they end."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from physical_ai.readiness import Unreachable, client
from simulator.home import HOME_VARIABLE
from workbench.cli.main import run
from workbench.cli.output import status


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "home"))


def gpu_node(pool: str, gpus: int) -> dict[str, Any]:
    return {
        "metadata": {"name": f"aks-{pool}-0", "labels": {"agentpool": pool}},
        "status": {"allocatable": {"nvidia.com/gpu": str(gpus)}, "conditions": [{"type": "Ready", "status": "True"}]},
    }


Look = Callable[..., list[str]]


@pytest.fixture
def real_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Look:
    """Puts a cluster with these nodes behind a kubeconfig; the options that look at it."""

    def made(*nodes: dict[str, Any], problem: Exception | None = None) -> list[str]:
        file = tmp_path / "kubeconfig"
        file.write_text("a kubeconfig")

        def get(path: str, _: Mapping[str, str]) -> Any:
            if problem is not None:
                raise problem
            return {"items": list(nodes) if path == "/api/v1/nodes" else []}

        def connect(text: str) -> Any:
            assert text == "a kubeconfig"
            return get

        monkeypatch.setattr(client, "connect", connect)
        return ["dev-westus2", "--kubeconfig", str(file)]

    return made


def test_open_gates_end_with_zero(real_cluster: Look, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["gates", *real_cluster(gpu_node("h100gpu", 1))]) == 0
    printed = capsys.readouterr().out
    assert "1 of 1 nvidia.com/gpu" in printed
    assert "no nodes; nothing to wait for" in printed


def test_a_closed_gate_ends_with_one_and_all_details(real_cluster: Look, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["gates", *real_cluster(gpu_node("h100gpu", 0))]) == 1
    printed = capsys.readouterr().out
    assert "node aks-h100gpu-0: gate 'nfd' is closed" in printed
    assert "fix: helm -n gpu-operator history gpu-operator" in printed


def test_the_pools_are_those_of_the_settings_with_overlays(
    real_cluster: Look, capsys: pytest.CaptureFixture[str]
) -> None:
    shared = ["--set", "pools.h100gpu.sharing={timeSlicing: {replicas: 4}}"]
    assert run(["gates", *real_cluster(gpu_node("h100gpu", 1)), *shared, "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert sorted(document) == ["cluster", "open", "pools", "schemaVersion", "stack", "unread"]
    assert document["open"] is False
    assert document["pools"]["h100gpu"]["gpus"] == {"nvidia.com/gpu": {"allocatable": 1, "expected": 4}}
    keys = ["cause", "fix", "gate", "message", "node", "phase", "pod", "reason"]
    assert sorted(document["pools"]["h100gpu"]["closed"][0]) == keys


def test_waiting_ends_at_the_bound(
    real_cluster: Look, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PHYSICAL_AI_GATE_SECONDS", "0")
    assert run(["gates", *real_cluster(gpu_node("h100gpu", 0)), "--wait"]) == 1
    assert "h100gpu aks-h100gpu-0: nfd is closed" in capsys.readouterr().err


@pytest.mark.parametrize("options", [[], ["--wait"]])
def test_a_cluster_that_cannot_be_read_has_no_open_gates(
    real_cluster: Look,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
) -> None:
    monkeypatch.setenv("PHYSICAL_AI_GATE_SECONDS", "0")
    assert run(["gates", *real_cluster(problem=Unreachable("connection refused")), *options]) == 1
    captured = capsys.readouterr()
    assert "cannot be read: connection refused" in captured.err
    assert captured.out == ""


def test_a_file_that_is_not_there_is_wrong_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["gates", "--kubeconfig", "/no/such/file"]) == 2
    assert "--kubeconfig" in capsys.readouterr().err


def test_without_a_simulation_it_names_the_alternatives(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["gates"]) == 1
    reported = capsys.readouterr().err
    assert "physai up dev-westus2" in reported
    assert "--kubeconfig" in reported


def pool(**changes: Any) -> dict[str, Any]:
    return {
        "name": "h100gpu",
        "size": "Standard_NC40ads_H100_v5",
        "driverSource": "operator",
        "driverVersion": "580.173.02",
        "sharing": "none",
        "priority": "Spot",
        "autoscaled": True,
        "nodes": 1,
        "ready": 1,
        "gpusPerNode": 1,
        "gpusAllocatable": 1,
        "gpus": {"nvidia.com/gpu": {"allocatable": 1, "expected": 1}},
        "gates": [],
        "labels": {"nvidia.com/gpu.deploy.driver": "true", "nvidia.com/device-plugin.config": "h100gpu"},
        "declaredLabels": {"nvidia.com/device-plugin.config": "h100gpu"},
        "taints": [],
        **changes,
    }


def shown(*pools: dict[str, Any], width: int = 200) -> str:
    console = Console(width=width, record=True, file=io.StringIO())
    document = {
        "stack": "dev-westus2",
        "exists": True,
        "simulated": ["everything"],
        "cluster": "aks",
        "running": True,
        "pools": list(pools),
        "namespaces": ["gpu-operator"],
        "releases": [{"name": "gpu-operator", "version": "v26.7.1", "namespace": "gpu-operator"}],
    }
    console.print(status.render(document))
    return console.export_text()


def test_the_table_shows_driver_version_sharing_and_gpus() -> None:
    text = shown(pool())
    row = next(line for line in text.splitlines() if line.startswith("h100gpu"))
    assert row.split() == [
        "h100gpu",
        "Standard_NC40ads_H100_v5",
        "1/1",
        "auto",
        "Spot",
        "operator",
        "580.173.02",
        "none",
        "1/1",
    ]
    assert "releases: gpu-operator v26.7.1" in text
    assert "gates" not in text


def test_mig_instances_are_named_and_empty_pools_report_it() -> None:
    instances = {"nvidia.com/mig-1g.12gb": {"allocatable": 3, "expected": 6}}
    assert "3/6 mig-1g.12gb" in shown(pool(gpus=instances))
    assert "no nodes" in shown(pool(nodes=0, ready=0, gpus={"nvidia.com/gpu": {"allocatable": 0, "expected": 0}}))


def test_a_closed_gate_is_a_line_below_the_table() -> None:
    text = shown(pool(gates=[{"line": "h100gpu aks-0: driver is closed. It is being built."}]))
    assert "h100gpu aks-0: driver is closed. It is being built." in text
    assert "`physai gates dev-westus2` shows the details." in text


def test_labels_that_the_operator_sets_are_left_to_the_json() -> None:
    text = shown(pool())
    assert "nvidia.com/device-plugin.config=h100gpu" in text
    assert "gpu.deploy.driver" not in text


def test_on_a_narrow_terminal_no_count_is_cut_off() -> None:
    text = shown(pool(size="Standard_NC144ds_xl_RTXPRO6000BSE_v6"), width=90)
    assert "580.173.02" in text
    assert "1/1" in text
