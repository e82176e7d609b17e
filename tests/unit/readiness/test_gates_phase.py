"""Pod phases as kubectl prints them."""

from __future__ import annotations

from typing import Any

from physical_ai.readiness.phase import active_container, is_running, phase, unfinished
from tests.support.cases import in_one_test

DONE = {"terminated": {"exitCode": 0, "reason": "Completed"}}
RUNS: dict[str, Any] = {"running": {}}


def waits(reason: str) -> dict[str, Any]:
    return {"waiting": {"reason": reason}}


def pod(
    init: list[dict[str, Any]], main: list[dict[str, Any]], overall: str = "Pending", **metadata: Any
) -> dict[str, Any]:
    def statuses(states: list[dict[str, Any]], ready: list[str]) -> list[dict[str, Any]]:
        return [
            {"name": f"{ready[0]}{index}", "state": state, "ready": state in ({"running": {}}, DONE)}
            for index, state in enumerate(states)
        ]

    return {
        "metadata": metadata,
        "spec": {
            "initContainers": [{"name": f"i{index}"} for index, _ in enumerate(init)],
            "containers": [{"name": f"m{index}"} for index, _ in enumerate(main)],
        },
        "status": {
            "phase": overall,
            "initContainerStatuses": statuses(init, ["i"]),
            "containerStatuses": statuses(main, ["m"]),
        },
    }


BEHIND = [waits("PodInitializing")]


@in_one_test(
    ("given", "shown"),
    [
        (pod([RUNS], BEHIND), "Init:0/1"),
        (pod([DONE, RUNS, waits("PodInitializing")], BEHIND), "Init:1/3"),
        (pod([waits("PodInitializing")] * 4, BEHIND), "Init:0/4"),
        (pod([waits("CrashLoopBackOff")], BEHIND), "Init:CrashLoopBackOff"),
        (pod([{"terminated": {"exitCode": 1, "reason": "Error"}}], BEHIND), "Init:Error"),
        (pod([{"terminated": {"exitCode": 137}}], BEHIND), "Init:ExitCode:137"),
        (pod([{"terminated": {"exitCode": 137, "signal": 9}}], BEHIND), "Init:Signal:9"),
        (pod([DONE], BEHIND), "PodInitializing"),
        (pod([], [waits("ContainerCreating")]), "ContainerCreating"),
        (pod([DONE], [waits("ImagePullBackOff"), RUNS], "Running"), "ImagePullBackOff"),
        (pod([DONE], [RUNS], "Running"), "Running"),
        (pod([DONE], [DONE, RUNS], "Running"), "Running"),
        (pod([DONE], [RUNS], "Running", deletionTimestamp="2026-11-20T10:00:00Z"), "Terminating"),
        ({"status": {"phase": "Pending"}}, "Pending"),
        ({"status": {"phase": "Failed", "reason": "Evicted"}}, "Evicted"),
    ],
)
def test_phase(given: dict[str, Any], shown: str) -> None:
    assert phase(given) == shown


def test_a_sidecar_that_has_started_is_no_init_container_any_more() -> None:
    given = pod([RUNS, RUNS], BEHIND)
    given["spec"]["initContainers"][0]["restartPolicy"] = "Always"
    given["status"]["initContainerStatuses"][0]["started"] = True
    assert phase(given) == "Init:1/2"
    assert unfinished(given)[0] == "i1"


def test_the_container_that_is_not_done() -> None:
    assert unfinished(pod([DONE, RUNS], BEHIND))[0] == "i1"
    assert unfinished(pod([DONE], [RUNS, waits("CrashLoopBackOff")]))[0] == "m1"
    assert unfinished(pod([DONE], [RUNS], "Running")) == ("", {})
    assert unfinished({"spec": {"containers": [{"name": "m0"}]}, "status": {"phase": "Pending"}}) == ("m0", {})


def test_a_container_that_could_not_be_started_is_not_at_work() -> None:
    assert active_container(pod([RUNS], BEHIND)) == "i0"
    assert active_container(pod([waits("CrashLoopBackOff")], BEHIND)) == "i0"
    assert active_container(pod([waits("PodInitializing")], BEHIND)) == ""
    assert active_container(pod([waits("ImagePullBackOff")], BEHIND)) == ""


def test_running_means_ready() -> None:
    assert is_running(pod([DONE], [RUNS], "Running"))
    assert not is_running(pod([DONE], [RUNS, waits("CrashLoopBackOff")], "Running"))
    assert not is_running(pod([RUNS], BEHIND))
