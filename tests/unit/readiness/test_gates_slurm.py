"""A node of Slurm's: its gate, what Slurm says of it, and what acceptance says of its GPUs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from parts.slurm import names
from physical_ai.readiness.diagnosis import diagnose
from physical_ai.readiness.model import Cluster, Report
from physical_ai.readiness.slurmd import slurm_nodes
from tests.support.readiness_objects import Situation
from workbench.health.acceptance.busy import slurm_holds

Json = dict[str, Any]
REASON = "gres/gpu count reported lower than configured (1 < 2)"


def pod(app: str, node: str, *, ready: bool = True, **states: str) -> Json:
    """A Pod of Slurm's namespace, with what Slurm says of the node."""
    found = [{"type": "Ready", "status": str(ready), "message": "" if ready else "containers with unready status"}]
    found += [{"type": f"{names.STATE_PREFIX}{key}", "status": "True", "message": said} for key, said in states.items()]
    labels = {"app.kubernetes.io/name": app}
    return {
        "metadata": {"name": f"{app}-0", "namespace": names.NAMESPACE, "labels": labels},
        "spec": {"nodeName": node, "hostname": "host-0", "containers": [{"name": app}]},
        "status": {"phase": "Running", "conditions": found, "containerStatuses": [{"name": app, "ready": ready}]},
    }


@dataclass
class Slurm:
    """A pool of Slurm's whose GPU gates are open."""

    pods: list[Json] = field(default_factory=list[Json])
    node: Json = field(default_factory=lambda: Situation().node)

    def report(self) -> Report:
        given = Situation()
        expected = replace(given.expected, slurm=True)
        cluster = Cluster(
            nodes=[self.node], pods=list(given.pods.values()), daemonsets=list(given.daemonsets.values()),
            policies=given.policies, drivers=given.drivers, slurm=self.pods,
        )  # fmt: skip
        return diagnose([expected], cluster)[0]


NODE = str(Situation().node["metadata"]["name"])
CONTROLLER = pod(names.CONTROLLER, "cpu-0")


def unscheduled() -> Json:
    found = pod(names.NODE, NODE, ready=False)
    found["status"]["phase"] = "Pending"
    found["status"]["conditions"] = [
        {"type": "PodScheduled", "status": "False", "message": "Insufficient nvidia.com/gpu"}
    ]
    return found


OF_SLURM: list[tuple[str, str, Callable[[], Slurm]]] = [
    ("slurm", "slurmd-absent", lambda: Slurm([CONTROLLER])),
    ("slurm", "slurmd-unscheduled", lambda: Slurm([CONTROLLER, unscheduled()])),
    ("slurm", "slurmctld-down", lambda: Slurm([pod(names.NODE, NODE, ready=False)])),
    ("slurm", "slurm-refuses-node", lambda: Slurm([CONTROLLER, pod(names.NODE, NODE, Idle="", InvalidReg=REASON)])),
]


@pytest.mark.parametrize(("gate", "cause", "broken"), OF_SLURM, ids=[cause for _, cause, _ in OF_SLURM])
def test_cause(gate: str, cause: str, broken: Callable[[], Slurm]) -> None:
    closed = broken().report().closed[0]
    assert (closed.gate, closed.cause) == (gate, cause)
    assert "?" not in closed.reason + closed.fix
    assert "{" not in closed.reason + closed.fix


def test_a_node_that_slurm_has_is_ready_also_while_it_is_drained() -> None:
    assert Slurm([CONTROLLER, pod(names.NODE, NODE, Idle="")]).report().state == "ready"
    assert Slurm([CONTROLLER, pod(names.NODE, NODE, Mixed="", Drain="fans")]).report().state == "ready"
    closed = Slurm([CONTROLLER, pod(names.NODE, NODE, ready=False)]).report().closed[0]
    assert (closed.gate, closed.cause, closed.may_recover) == ("slurm", "", True)


def test_an_excluded_node_is_not_waited_for() -> None:
    out = Slurm([CONTROLLER])
    out.node["metadata"]["labels"][names.OUT_LABEL] = "accept"
    assert out.report().state == "ready"
    cordoned = Slurm([CONTROLLER])
    cordoned.node["spec"]["unschedulable"] = True
    assert cordoned.report().state == "ready"


def test_pools_of_others_are_not_asked() -> None:
    assert Situation().report().state == "ready"


def test_what_slurm_says_of_a_node() -> None:
    found = slurm_nodes([CONTROLLER, pod(names.NODE, "a", Allocated="", Drain="slurm-operator: ECC")])["a"]
    assert (found.is_busy, found.is_drained_by_operator, found.drained_for) == (True, True, "slurm-operator: ECC")
    assert found.document()["states"] == ["Allocated", "Drain"]
    gone = pod(names.NODE, "b")
    gone["metadata"]["deletionTimestamp"] = "2026-11-24T00:00:00Z"
    assert slurm_nodes([gone]) == {}


@pytest.mark.parametrize(
    ("held", "jobs"),
    [(pod(names.NODE, "a", Idle=""), "no job runs on it now"), (pod(names.NODE, "a", Mixed=""), "jobs run on it")],
)
def test_acceptance_says_whose_the_gpus_are_and_how_to_get_them(held: Json, jobs: str) -> None:
    text = slurm_holds("a", [held])
    assert f"its GPUs are Slurm's (slurm/slurmd-0; {jobs})" in text
    assert "kubectl label node a physical-ai/slurm-out=accept" in text
    assert slurm_holds("b", [pod(names.NODE, "a", Idle="")]) == ""
