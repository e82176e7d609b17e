"""Nodes that still offer their GPUs while a change is on its way to them."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any

from physical_ai.catalog.own_names import ROLL_ANNOTATION
from physical_ai.readiness import Cluster, Outcome, Report, diagnose
from physical_ai.readiness.model import ROLLOUT
from physical_ai.readiness.rollout import UPGRADE_STATE
from physical_ai.readiness.text import failure
from tests.support.cases import in_one_test
from tests.support.gpu_hardware import h100
from tests.support.gpu_model import gpu_model
from tests.support.readiness_cluster import H100, cluster
from tests.support.readiness_objects import Situation

NODE = "h100-00"
DIGEST = {"name": "GPU_POOL_CONFIGS_DIGEST", "value": "one"}
PLUGIN = "nvidia-device-plugin-daemonset"


def ready() -> Cluster:
    """A node with its GPU, and an operator that has done all it was asked to."""
    made = gpu_model(devicePlugin={"env": [DIGEST]})
    made.join(NODE, h100())
    made.wait()
    return deepcopy(cluster(made, {NODE: H100.pool}))


def judged(given: Cluster) -> Report:
    [report] = diagnose([H100], given)
    return report


def item(given: Cluster, part: str) -> Any:
    return next(each for each in given.daemonsets if part in each["metadata"]["name"])


def test_a_node_whose_operator_is_done_is_ready() -> None:
    assert judged(ready()).state == "ready"


def another_version(given: Cluster) -> None:
    driver: Any = given.drivers[0]
    driver["spec"]["version"] = "580.173.02"


def other_modules(given: Cluster) -> None:
    driver: Any = given.drivers[0]
    driver["spec"]["env"] = [{"name": "GPU_MODULE_PARAMETERS_DIGEST", "value": "two"}]


def no_modules_any_more(given: Cluster) -> None:
    container: Any = item(given, "nvidia-gpu-driver")["spec"]["template"]["spec"]["containers"][0]
    container["env"] = [*container["env"], {"name": "GPU_MODULE_PARAMETERS_DIGEST", "value": "one"}]


def other_kind_of_modules(given: Cluster) -> None:
    driver: Any = given.drivers[0]
    driver["spec"]["kernelModuleType"] = "open"


def more_driver_tolerations(given: Cluster) -> None:
    driver: Any = given.drivers[0]
    driver["spec"]["tolerations"] = [{"key": "team", "operator": "Exists", "effect": "NoSchedule"}]


def more_tolerations(given: Cluster) -> None:
    policy: Any = given.policies[0]
    policy["spec"]["daemonsets"]["tolerations"] = [{"key": "team", "operator": "Exists", "effect": "NoSchedule"}]


def other_configs(given: Cluster) -> None:
    policy: Any = given.policies[0]
    policy["spec"]["devicePlugin"]["env"] = [{**DIGEST, "value": "two"}]


def other_strategy(given: Cluster) -> None:
    policy: Any = given.policies[0]
    policy["spec"]["mig"]["strategy"] = "mixed"


def other_toolkit(given: Cluster) -> None:
    policy: Any = given.policies[0]
    policy["spec"]["toolkit"]["version"] = "v1.21.0"


def changed_daemonset(given: Cluster) -> None:
    item(given, PLUGIN)["metadata"]["generation"] = 2


def half_way(given: Cluster) -> None:
    item(given, PLUGIN)["status"] |= {"desiredNumberScheduled": 2, "updatedNumberScheduled": 1}


def driver_half_way(given: Cluster) -> None:
    item(given, "nvidia-gpu-driver")["status"] |= {"desiredNumberScheduled": 2, "updatedNumberScheduled": 1}


def upgrading(given: Cluster) -> None:
    node: Any = given.nodes[0]
    node["metadata"]["labels"][UPGRADE_STATE] = "drain-required"


def restarting(given: Cluster) -> None:
    pod: Any = next(each for each in given.pods if "device-plugin" in each["metadata"]["name"])
    pod["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
    pod["status"]["containerStatuses"][0] |= {"ready": False, "state": {"waiting": {"reason": "ContainerCreating"}}}


@in_one_test(
    ("change", "words"),
    [
        (another_version, "not applied NVIDIADriver h100"),
        (other_modules, "not applied NVIDIADriver h100"),
        (no_modules_any_more, "not applied NVIDIADriver h100"),
        (other_kind_of_modules, "not applied NVIDIADriver h100"),
        (more_driver_tolerations, "not applied NVIDIADriver h100"),
        (more_tolerations, "to nvidia-container-toolkit-daemonset"),
        (other_configs, f"to {PLUGIN}"),
        (other_strategy, f"to {PLUGIN}"),
        (other_toolkit, "to nvidia-container-toolkit-daemonset"),
        (changed_daemonset, "has just changed"),
        (half_way, "1 of 2 nodes"),
        (driver_half_way, "1 of 2 nodes"),
        (upgrading, "being upgraded: drain-required"),
        (restarting, "is not ready"),
    ],
)
def test_an_unfinished_change_keeps_the_gate_closed(change: Callable[[Cluster], None], words: str) -> None:
    given = ready()
    change(given)
    report = judged(given)
    assert (report.state, [closed.gate for closed in report.closed]) == ("waiting", [ROLLOUT])
    assert words in report.closed[0].reason
    assert report.closed[0].may_recover


def test_a_failed_upgrade_needs_an_action() -> None:
    given = ready()
    node: Any = given.nodes[0]
    node["metadata"]["labels"][UPGRADE_STATE] = "upgrade-failed"
    assert not judged(given).closed[0].may_recover


def test_a_driver_that_is_upgraded_by_hand_is_not_waited_for() -> None:
    given = ready()
    driver_half_way(given)
    driver: Any = given.drivers[0]
    driver["spec"]["upgradePolicy"] = {"autoUpgrade": False}
    assert judged(given).state == "ready"


def test_no_deployment_waits_for_nodes_that_have_their_turn_later() -> None:
    given = ready()
    driver_half_way(given)
    upgrading(given)
    item(given, "nvidia-gpu-driver")["status"] |= {"desiredNumberScheduled": 1, "updatedNumberScheduled": 0}
    given.nodes[0]["metadata"].setdefault("annotations", {})[ROLL_ANNOTATION] = "{}"
    assert judged(given).state == "ready"
    given.nodes[0]["metadata"]["labels"][UPGRADE_STATE] = "upgrade-failed"
    assert not judged(given).closed[0].may_recover


def test_no_deployment_waits_for_operands_that_somebody_deletes_later() -> None:
    given = ready()
    plugin = item(given, PLUGIN)
    plugin["status"] |= {"desiredNumberScheduled": 1, "updatedNumberScheduled": 0}
    assert judged(given).state == "waiting"
    plugin["spec"]["updateStrategy"] = {"type": "OnDelete"}
    assert judged(given).state == "ready"


def test_a_version_does_not_match_another_one_with_its_prefix() -> None:
    given = ready()
    driver: Any = given.drivers[0]
    driver["spec"]["version"] = driver["spec"]["version"][:-1]
    assert judged(given).state == "waiting"


def test_other_pools_are_not_held_up() -> None:
    given = ready()
    other: Any = {**deepcopy(given.drivers[0]), "metadata": {"name": "other"}}
    other["spec"]["version"] = "580.173.02"
    assert judged(replace(given, drivers=[*given.drivers, other])).state == "ready"


def outcome(given: Cluster) -> Outcome:
    return Outcome(diagnose([H100], given), 2700)


def test_a_rollout_that_is_not_over_is_a_warning_and_no_failure() -> None:
    given = ready()
    upgrading(given)
    assert outcome(given).is_only_rollout
    assert "a rollout is not complete after 45 min" in failure(outcome(given))


def test_missing_gpus_are_a_failure_whatever_rolls_out() -> None:
    given = ready()
    node: Any = given.nodes[0]
    node["status"]["allocatable"] = {}
    assert not outcome(given).is_only_rollout
    assert "GPUs are missing" in failure(outcome(given))
    assert not outcome(ready()).is_only_rollout


def grid_ready(*, behind: bool = False, reported: str = "True", wanted: bool = True) -> Report:
    """A GRID node that offers its GPU, with its agent's DaemonSet and what the agent says."""
    situation = Situation().grid()
    if not wanted:
        situation.expected = replace(situation.expected, resources={})
        situation.gpus({})
    condition = {"type": "GridDriverReady", "status": reported, "reason": "Draining", "message": "waits for training-0"}
    situation.node["status"]["conditions"].append(condition)
    situation.daemonsets["agent"] = {
        "metadata": {"name": "gpu-grid-driver-installer", "generation": 2},
        "spec": {"template": {"spec": {"nodeSelector": {"physical-ai/gpu-driver": "grid"}}}},
        "status": {
            "observedGeneration": 2,
            "desiredNumberScheduled": 1,
            "updatedNumberScheduled": 0 if behind else 1,
        },
    }
    return situation.report()


def test_an_unfinished_change_of_the_grid_driver_keeps_the_gate_closed() -> None:
    assert grid_ready().state == "ready"
    (closed,) = grid_ready(behind=True).closed
    assert (closed.gate, closed.may_recover) == (ROLLOUT, True)
    assert "has reached 0 of 1 nodes" in closed.reason


def test_an_old_grid_driver_that_still_serves_is_not_the_wanted_one() -> None:
    (closed,) = grid_ready(reported="False").closed
    assert closed.gate == ROLLOUT
    assert "waits for training-0" in closed.reason


def test_where_no_driver_is_wanted_its_removal_is_what_is_waited_for() -> None:
    assert grid_ready(reported="False", wanted=False).state == "ready"
    assert grid_ready(reported="False", wanted=False, behind=True).state == "waiting"
