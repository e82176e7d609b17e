"""When the operator's controllers run, in model time: what they do not watch they see at the next planned look."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simulator.cluster.objects import labels
from simulator.gpu import operator
from simulator.gpu.names import UPGRADE_STATE
from simulator.gpu.node_state import Timing
from simulator.gpu.pacing import RECREATION_SECONDS, Pacing
from simulator.gpu.state import State
from tests.support.gpu_cluster import Cluster
from tests.support.gpu_model import spec
from tests.unit.simulator.test_gpu_operator_model import driver, started

UPGRADES = {"autoUpgrade": True, "maxParallelUpgrades": 1, "maxUnavailable": "50%"}
MOST_SECONDS = 3600


def upgraded(made: Cluster, seconds: float) -> dict[str, tuple[int, int]]:
    """Changes the driver of all nodes; when each node's upgrade began and ended. `seconds` is how long a build takes.

    Each second the kubelets report what has become of the driver pods, and the controllers run that are awake.
    """
    pacing, began, times = Pacing(seen=made.state), dict[str, int](), dict[str, list[int]]()
    made.state = replace(made.state, drivers={"h100": driver("h100", version="610.57.04")})
    for now in range(MOST_SECONDS):
        ready = {node: now - began.get(node, -MOST_SECONDS) >= seconds for node in made.state.pods}
        pods = {node: replace(pod, ready=ready[node]) for node, pod in made.state.pods.items()}
        validated = frozenset(node for node, is_ready in ready.items() if is_ready)
        made.state = replace(made.state, now=now, pods=pods, validated=validated, validating=frozenset(pods))
        for step in operator.reconcile(made.state, pacing.awake(made.state)).steps:
            if step.verb == "restart":
                began[step.name] = now
            made._take(step)  # pyright: ignore[reportPrivateUsage]
        made._place()  # pyright: ignore[reportPrivateUsage]
        for key, node in made.state.nodes.items():
            stage = labels(node).get(UPGRADE_STATE, "")
            if stage not in ("", "upgrade-required", "upgrade-done") or (key in times and len(times[key]) == 1):
                times.setdefault(key, [now])
                if stage == "upgrade-done":
                    times[key].append(now)
        if len(times) == len(made.state.nodes) and all(len(each) == 2 for each in times.values()):
            break
    return {key: (each[0], each[1]) for key, each in times.items()}


@pytest.mark.parametrize(("seconds", "expected"), [(Timing().driver_build, 120), (10, 120), (180, 240)])
def test_an_undisturbed_upgrade_takes_two_minutes_a_node_because_nothing_watches_the_driver_pod(
    seconds: float, expected: int
) -> None:
    made = started(2, driver("h100"), driver={"enabled": True, "useNvidiaDriverCRD": True, "upgradePolicy": UPGRADES})
    (first, second) = sorted(upgraded(made, seconds).values())
    for begin, end in (first, second):
        assert end - begin == pytest.approx(expected, abs=10)
    assert second[0] >= first[1], "one node after the other"


def test_a_controller_that_was_woken_too_early_runs_later() -> None:
    made = started(1, driver("h100"))
    pacing = Pacing(seen=made.state)
    other = replace(made.state, drivers={"h100": driver("h100", version="610.57.04")}, now=1000.0)
    assert "driver" in pacing.awake(other)
    steps = [each for each in made.steps if each.kind == "DaemonSet"][:1]
    pacing.took([replace(each, controller="driver", verb="delete") for each in steps], 1000.0)
    again = replace(other, drivers={"h100": driver("h100")}, now=1001.0)
    assert "driver" not in pacing.awake(again)
    assert pacing.is_waiting
    assert "driver" in pacing.awake(replace(again, now=1000.0 + RECREATION_SECONDS))


def test_a_policy_that_was_followed_is_remembered_after_it_is_deleted() -> None:
    state = State("v26.3.3", {"metadata": {"name": "first"}, "spec": spec()})
    pacing = Pacing()
    pacing.awake(state)
    pacing.awake(replace(state, policy=None))
    assert pacing.followed == "first"
