"""Acceptance of a node whose GPUs are devices of claims: what its Pods ask for, and who has the devices already."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from parts.dra.claims import claim_objects
from parts.dra.names import DRIVER
from physical_ai.catalog.acceptance import CHECK_LABEL, checks
from physical_ai.planning.acceptance import declared_jobs
from physical_ai.readiness.devices import CLAIMS, SLICES
from physical_ai.settings import Settings
from physical_ai.settings.facts.acceptance import not_for
from simulator.acceptance.live import machine
from simulator.gpu.hardware import of_node
from simulator.gpu.node_state import Host, NodeState
from tests.support.acceptance_world import NODE, World, gpu_node
from tests.support.dra_settings import POOL
from tests.support.gpu_settings import given_settings
from workbench.health.acceptance import jobs
from workbench.health.acceptance.collecting import collect
from workbench.health.acceptance.record import CheckResult
from workbench.health.acceptance.running import Acceptance, Target

Json = dict[str, Any]


@dataclass
class ClaimWorld(World):
    """A node without `nvidia.com/gpu`, whose driver publishes its GPU."""

    devices: int = 1
    holder: str = ""
    """The claim that has the first device."""
    kinds: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        del self.node["status"]["allocatable"]["nvidia.com/gpu"]

    def send(self, method: str, path: str, parameters: Mapping[str, str], body: Any = None) -> Any:
        if path == SLICES:
            given = [{"name": f"gpu-{each}", "attributes": {"type": {"string": "gpu"}}} for each in range(self.devices)]
            return {"items": [{"spec": {"driver": DRIVER, "pool": {"name": NODE}, "nodeName": NODE, "devices": given}}]}
        if path == CLAIMS:
            results = [{"driver": DRIVER, "pool": NODE, "device": "gpu-0"}]
            metadata = {"namespace": "robotics", "name": self.holder}
            claim = {"metadata": metadata, "status": {"allocation": {"devices": {"results": results}}}}
            return {"items": [claim] if self.holder else []}
        return super().send(method, path, parameters, body)


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "POLL_SECONDS", 0.0)


@pytest.fixture(scope="module")
def settings() -> Settings:
    return given_settings(*POOL).settings


def world(**given: Any) -> ClaimWorld:
    return ClaimWorld(gpu_node("Standard_NC40ads_H100_v5"), "580.173.02", **given)


def run(place: ClaimWorld, settings: Settings) -> dict[str, CheckResult]:
    access = Acceptance(place.send, settings, "full", lambda *_: None)
    (result,) = access.run([Target(place.node, "h100gpu")])
    return {each.check: each for each in result.checks}


def test_its_pods_claim_devices_by_templates_that_the_program_declares(settings: Settings) -> None:
    place = world()
    found = run(place, settings)
    assert {found[name].verdict for name in ("vector-add", "stack", "bandwidth", "diag-2")} == {"passed"}
    templates = {item["metadata"]["name"]: item for item in claim_objects(settings).claims}
    assert place.created
    for job in place.created:
        spec: Json = job["spec"]["template"]["spec"]
        (claim,) = spec["resourceClaims"]
        template = templates[claim["resourceClaimTemplateName"]]
        assert template["metadata"]["namespace"] == job["metadata"]["namespace"]
        (container,) = spec["containers"]
        assert container["resources"]["claims"] == [{"name": claim["name"]}]
        assert "limits" not in container["resources"]
        assert not [key for key in container["resources"]["requests"] if "gpu" in key]


def test_a_device_that_is_missing_or_held_is_said(settings: Settings) -> None:
    assert "offers 0 x gpu.nvidia.com" in run(world(devices=0), settings)["vector-add"].message
    held = run(world(holder="train-gpu-x"), settings)["vector-add"]
    assert (held.verdict, "robotics/train-gpu-x" in held.message) == ("no-verdict", True)


def test_what_ran_without_the_command_is_measured_against_the_devices(settings: Settings) -> None:
    place = world()
    run(place, settings)
    stack = next(each for each in place.created if each["metadata"]["labels"][CHECK_LABEL] == "stack")
    pod = place.ran("cron-1", stack["spec"]["template"]["spec"])
    pod["metadata"]["labels"] = {CHECK_LABEL: "stack"}
    place.finished = [pod]
    (result,) = collect(place.send, settings, [Target(place.node, "h100gpu")])
    assert [(each.check, each.verdict) for each in result.checks] == [("stack", "passed")]


def test_declared_checks_claim_as_well_and_the_one_about_the_environment_is_left_out() -> None:
    given = given_settings(*POOL, "health.acceptance.declareJobs=true").settings
    crons = {item["metadata"]["name"]: item for item in declared_jobs(given) if item["kind"] == "CronJob"}
    spec: Json = crons["accept-vector-add-h100gpu"]["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    assert spec["resourceClaims"][0]["resourceClaimTemplateName"] == "gpu-acceptance-1"
    rtx = given.pools["rtxprogpu"]
    assert not not_for(checks()["graphics-absent"], rtx)
    claimed = rtx.model_copy(update={"allocation": "dra"})
    assert "all of the driver" in not_for(checks()["graphics-absent"], claimed)


def test_a_server_of_an_existing_cluster_is_seen_as_what_it_is() -> None:
    annotations = {"simulator.physical-ai/machine": "rtx-pro-server"}
    node: Json = {"metadata": {"name": "rtxpro-1", "labels": {"agentpool": "rtxpro"}, "annotations": annotations}}
    hardware = of_node(node)
    assert hardware is not None
    state = NodeState("v26.7.1", hardware, host=Host("580.173.02"))
    found = machine({"resources": {"claims": [{"name": "gpus"}]}}, node, state, claimed=8)
    assert (found.size.name, len(found.gpus), found.cuda_error) == ("rtx-pro-server", 8, "")
    assert machine({}, node, state).cuda_error, "a container without devices has no GPU"
