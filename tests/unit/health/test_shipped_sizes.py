"""Acceptance on every size and server that the catalogue has: a healthy node can pass it, and loses its taint."""

from __future__ import annotations

from typing import Any

import pytest

from physical_ai.catalog import machine, servers, vm_sizes
from physical_ai.catalog.acceptance import LEVELS, AcceptanceLevel
from physical_ai.catalog.vendors import NVIDIA
from physical_ai.settings import Settings, load
from physical_ai.settings.facts.acceptance import promise
from physical_ai.settings.facts.pools import NOT_ACCEPTED_TAINT
from physical_ai.settings.models.node_pools import DriverSource
from simulator.acceptance.machine import Machine
from simulator.acceptance.smi import nvidia_smi
from simulator.gpu import node
from simulator.gpu.driver import OperatingSystem
from simulator.gpu.driver_daemonsets import daemonset
from simulator.gpu.driver_files import NO_FILES
from simulator.gpu.hardware import of_size
from simulator.gpu.node_state import NodeState
from simulator.gpu.release import release
from tests.support.acceptance_world import World, gpu_node
from tests.support.cases import in_one_test
from workbench.health.acceptance import jobs
from workbench.health.acceptance.choosing import is_kept_out
from workbench.health.acceptance.outputs.smi import read_smi
from workbench.health.acceptance.record import NodeResult
from workbench.health.acceptance.running import Acceptance, Target

POOL = "h100gpu"
IMAGE = "example.azurecr.io/nccl-tests:2.17"
TAINT = {"key": NOT_ACCEPTED_TAINT.partition("=")[0], "value": "present", "effect": "NoSchedule"}


def shipped() -> list[tuple[str, str]]:
    """Each size and server with NVIDIA's GPUs, with each driver source that it allows. AMD's have no such checks, and
    `health.admit: accepted` is refused beside them."""
    sizes = [
        (name, source)
        for name, size in vm_sizes().items()
        if size.gpu is not None and size.gpu.vendor is NVIDIA
        for source in size.driver_sources
    ]
    return sizes + [(name, "operator") for name, server in servers().items() if server.gpu is not None]


def settings_for(sku: str, source: str, **images: str) -> Settings:
    given = load("dev-westus2").settings
    fabric = "infiniband" if machine(sku).infiniband else "none"
    driver = given.pools[POOL].driver.model_copy(update={"source": DriverSource(source)})
    pool = given.pools[POOL].model_copy(update={"sku": sku, "driver": driver, "fabric": fabric})
    acceptance = given.health.acceptance.model_copy(update={"images": images})
    health = given.health.model_copy(update={"admit": "accepted", "acceptance": acceptance})
    return given.model_copy(update={"pools": {POOL: pool}, "health": health})


def accepted(settings: Settings, level: AcceptanceLevel, monkeypatch: pytest.MonkeyPatch) -> tuple[World, NodeResult]:
    monkeypatch.setattr(jobs, "POLL_SECONDS", 0.0)
    pool = settings.pools[POOL]
    promised = promise(settings, pool)
    node: dict[str, Any] = gpu_node(pool.sku)
    node["spec"]["taints"].append(dict(TAINT))
    node["status"]["allocatable"] |= {key: str(count) for key, count in promised.resources.items()}
    world = World(node, promised.driver or "580.173.02", modules=promised.modules or "open")
    (result,) = Acceptance(world.send, settings, level, lambda *_: None).run([Target(node, POOL)])
    return world, result


@in_one_test("level", LEVELS)
@in_one_test(("sku", "source"), shipped())
def test_a_healthy_node_passes_each_level_as_the_product_is_delivered_and_gets_work(
    sku: str, source: str, level: AcceptanceLevel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody publishes an image of NCCL's tests: those checks are skipped, and say what they need."""
    world, result = accepted(settings_for(sku, source), level, monkeypatch)
    assert (result.problems, is_kept_out(world.node)) == ([], False)
    done = {each.check: each for each in result.checks}
    assert all(each.message for each in result.checks if each.verdict == "skipped")
    gpu = machine(sku).gpu
    assert gpu is not None
    if level != "quick" and gpu.count > 1:
        assert "health.acceptance.images.nccl-tests" in done["nccl"].message


@in_one_test(("sku", "source"), shipped())
def test_with_an_image_of_nccl_s_tests_it_runs_where_a_node_has_two_gpus(
    sku: str, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    gpu = machine(sku).gpu
    assert gpu is not None
    world, result = accepted(settings_for(sku, source, **{"nccl-tests": IMAGE}), "full", monkeypatch)
    assert (result.problems, is_kept_out(world.node)) == ([], False)
    verdicts = {each.check: each.verdict for each in result.checks}
    assert verdicts["nccl"] == ("passed" if gpu.count > 1 else "skipped")


@pytest.mark.parametrize(("kind", "closed"), [("proprietary", True), ("open", False), ("auto", False)])
def test_a_driver_pod_s_modules_are_those_that_it_was_asked_for(kind: str, closed: bool) -> None:
    """As in the record of February 2026, whose operator builds the proprietary ones."""
    sku = "Standard_NC40ads_H100_v5"
    hardware = of_size(machine(sku))
    assert hardware is not None
    spec = {"driverType": "gpu", "repository": "r", "image": "driver", "version": "580.82.07", "kernelModuleType": kind}
    resource = {"metadata": {"name": "d", "uid": "d"}, "spec": spec}
    system = OperatingSystem("ubuntu", "24.04")
    made = daemonset(release("v26.7.0"), resource, "gpu-operator", system, files=NO_FILES, manager="r/manager:1")
    state = node.step(NodeState("v26.7.0", hardware), node.PodAdded(made))
    code, text = nvidia_smi(Machine("n", machine(sku), state, (0,), graphics=False), "nvidia-smi -q -x")
    assert (code, "Open Kernel Module" in text) == (0, not closed)
    assert read_smi(text).modules == ("proprietary" if closed else "open")
