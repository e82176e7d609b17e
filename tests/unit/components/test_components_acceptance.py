"""Checks of nodes that the program declares: none by default, suspended ones, and the diagnostic of idle nodes."""

from __future__ import annotations

from typing import Any

from physical_ai.planning.osmo_platforms import pod_templates
from tests.support.gpu_settings import given_settings
from tests.unit.conftest import Simulate

DAILY = "0 3 * * *"


def cron_jobs(simulate: Simulate, **acceptance: Any) -> dict[str, Any]:
    recording = simulate("dev-westus2", {"health": {"acceptance": acceptance}})
    found = [each.inputs for each in recording.resources if each.type == "kubernetes:batch/v1:CronJob"]
    checks = [each for each in found if "physical-ai/acceptance-check" in (each["metadata"].get("labels") or {})]
    return {each["metadata"]["name"]: each["spec"] for each in checks}


def test_nothing_is_declared_by_default(simulate: Simulate) -> None:
    assert cron_jobs(simulate) == {}
    kinds = {each.type for each in simulate("dev-westus2").resources}
    assert "kubernetes:scheduling.k8s.io/v1:PriorityClass" not in kinds


def test_each_check_of_each_pool_is_a_suspended_cron_job(simulate: Simulate) -> None:
    found = cron_jobs(simulate, declareJobs=True)
    assert set(found) == {
        *(f"accept-{check}-h100gpu" for check in ("vector-add", "stack", "bandwidth", "diag-3")),
        *(f"accept-{check}-rtxprogpu" for check in ("vector-add", "stack", "graphics", "graphics-absent")),
        *(f"accept-{check}-rtxprogpu" for check in ("vulkan", "isaac-sim", "bandwidth")),
    }
    assert all(spec["suspend"] is True for spec in found.values())


def test_pods_have_no_rights_and_tolerate_their_own_pool_only(simulate: Simulate) -> None:
    for name, spec in cron_jobs(simulate, declareJobs=True).items():
        pod = spec["jobTemplate"]["spec"]["template"]["spec"]
        assert (pod["serviceAccountName"], pod["automountServiceAccountToken"]) == ("gpu-acceptance", False)
        assert pod["nodeSelector"] == {"kubernetes.azure.com/agentpool": name.rpartition("-")[2]}
        assert {each["key"] for each in pod["tolerations"]} == {
            "nvidia.com/gpu",
            "kubernetes.azure.com/scalesetpriority",
        }
        assert not pod["containers"][0]["securityContext"]["allowPrivilegeEscalation"]


def test_the_diagnostic_of_idle_nodes_gives_way_to_all_work(simulate: Simulate) -> None:
    found = cron_jobs(simulate, diagnoseIdle=DAILY)
    assert set(found) == {"idle-diag-2-h100gpu"}, "a vGPU guest has no diagnostic"
    spec = found["idle-diag-2-h100gpu"]
    assert (spec["schedule"], spec["timeZone"], spec["suspend"]) == (DAILY, "Etc/UTC", False)
    job = spec["jobTemplate"]["spec"]
    assert "completions" not in job
    assert job["template"]["spec"]["containers"][0]["resources"]["limits"] == {"nvidia.com/gpu": "1"}
    classes = simulate("dev-westus2", {"health": {"acceptance": {"diagnoseIdle": DAILY}}}).resources
    (priority,) = [each.inputs for each in classes if each.type == "kubernetes:scheduling.k8s.io/v1:PriorityClass"]
    assert priority["value"] < -10
    assert priority["preemptionPolicy"] == "Never"
    assert job["template"]["spec"]["priorityClassName"] == priority["metadata"]["name"]


def test_a_diagnostic_runs_in_front_of_tasks_with_whole_gpus_only() -> None:
    plain = pod_templates(given_settings().settings)
    assert "initContainers" not in plain["platform-h100"]["spec"]
    templates = pod_templates(given_settings("health.acceptance.beforeTasks=true").settings)
    (diagnostic,) = templates["platform-h100"]["spec"]["initContainers"]
    assert diagnostic["name"] == "gpu-diagnostic"
    assert (
        diagnostic["resources"]["limits"] == templates["platform-h100"]["spec"]["containers"][0]["resources"]["limits"]
    )
    assert "initContainers" not in templates["platform-rtxpro"]["spec"]
    assert "initContainers" not in templates["platform-cpu"]["spec"]
