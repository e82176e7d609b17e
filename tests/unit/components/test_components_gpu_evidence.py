"""The record of GPU machines: on which nodes it runs, with which rights, and that the limits fit what it writes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gpu_evidence import record
from physical_ai.catalog.own_names import DRIVER_LABEL
from physical_ai.kubernetes.cel import evaluate
from physical_ai.planning import manifests
from tests.unit.conftest import Simulate
from workbench.policies.workloads import GPU_EVIDENCE

NAME = "gpu-evidence"


def pods(simulate: Simulate) -> dict[str, dict[str, Any]]:
    recording = simulate("dev-westus2")
    found = {
        each.inputs["metadata"]["name"]: each.inputs["spec"]["template"]["spec"]
        for each in recording.of_type("DaemonSet")
    }
    (cron,) = recording.of_type("CronJob")
    found[cron.inputs["metadata"]["name"]] = cron.inputs["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    return {name: pod for name, pod in found.items() if name.startswith(NAME)}


def test_it_runs_on_every_gpu_node_tainted_ones_included(simulate: Simulate) -> None:
    found = pods(simulate)
    assert set(found) == set(GPU_EVIDENCE)
    for name in GPU_EVIDENCE[:2]:
        terms = found[name]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        (expression,) = terms["nodeSelectorTerms"][0]["matchExpressions"]
        assert (expression["key"], expression["operator"]) == (DRIVER_LABEL, "Exists")
        assert {each["key"] for each in found[name]["tolerations"]} >= {"nvidia.com/gpu"}


def test_only_the_second_has_the_nvidia_runtime_and_no_pod_takes_a_gpu_or_a_capability(simulate: Simulate) -> None:
    found = pods(simulate)
    assert {name for name, pod in found.items() if pod.get("runtimeClassName")} == {"gpu-evidence-gpus"}
    for pod in found.values():
        (container,) = pod["containers"]
        assert "nvidia.com/gpu" not in json.dumps(container["resources"])
        security = container["securityContext"]
        assert security["capabilities"] == {"drop": ["ALL"]}
        assert not security.get("privileged")
        assert not pod.get("hostPID")
        assert all(mount["readOnly"] for mount in container["volumeMounts"])


def test_the_limits_allow_exactly_what_is_written(simulate: Simulate) -> None:
    policies = {
        each.inputs["metadata"]["name"]: each.inputs["spec"]
        for each in simulate("dev-westus2").of_type("ValidatingAdmissionPolicy")
    }
    text = json.dumps(policies[NAME])
    assert all(key in text for key in (record.MACHINE, record.GPUS, record.STARTS))
    assert record.name("", "x").startswith("evidence-")
    assert record.LABEL in json.dumps(policies["gpu-evidence-retention"])
    assert all(policies[each]["failurePolicy"] == "Fail" for each in (NAME, "gpu-evidence-retention"))


@pytest.mark.parametrize("stack", ["dev-westus2", "seed-westus2"])
def test_a_stack_that_records_nothing_has_none_of_it(simulate: Simulate, stack: str) -> None:
    recording = simulate(stack, {"health": {"evidence": {"enabled": False}}})
    assert not [each.name for each in recording.resources if "evidence" in each.name]


@pytest.mark.deep  # in `make test`: the default above
def test_how_long_records_stay_is_the_settings(simulate: Simulate) -> None:
    recording = simulate("dev-westus2", {"health": {"evidence": {"retentionDays": 30, "mostRecords": 40}}})
    (cron,) = recording.of_type("CronJob")
    (container,) = cron.inputs["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    assert container["args"] == ["prune", "--days=30", "--most=40"]


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("evidence-gpu", True),
        ("evidence-gpu-0af4c2de", True),
        ("evidence-gpu-1", False),  # of another node
        ("evidence-gpu-worker-1", False),
        ("evidence-gpu-1-0af4c2de", False),
        ("evidence-gpu2", False),
        ("evidence-", False),
    ],
)
def test_a_node_records_itself_and_no_other_whose_name_begins_like_its_own(name: str, allowed: bool) -> None:
    policy = manifests.load("gpu-evidence-limits.yaml")[0]["spec"]
    scope = {"object": {"metadata": {"name": name}}, "variables": {"node": "gpu"}}
    assert evaluate(policy["validations"][0]["expression"], scope) is allowed
