"""A node of Slurm's in repair: its jobs are waited for, and its daemon leaves when Slurm has drained the node."""

from __future__ import annotations

import pytest

from parts.slurm import names
from tests.unit.readiness.test_gates_slurm import Json, pod
from workbench.health.replacement.drain import Load, load_of

DRAIN = "slurm-operator: Node (a) was cordoned"
DAEMON = (names.NAMESPACE, "slurmd-0")


def owned(made: Json) -> Json:
    made["metadata"]["ownerReferences"] = [{"kind": "NodeSet", "name": "n", "controller": True}]
    return made


@pytest.mark.parametrize(
    ("daemon", "expected"),
    [
        (pod(names.NODE, "a", Idle=""), "Slurm has not drained its node host-0 yet"),
        (pod(names.NODE, "a", Mixed="", Drain=DRAIN), "jobs of Slurm run on its node host-0"),
        (pod(names.NODE, "a", Allocated=""), "jobs of Slurm run on its node host-0"),
    ],
)
def test_jobs_and_the_drain_in_slurm_are_waited_for(daemon: Json, expected: str) -> None:
    load = load_of([owned(daemon)])
    assert load == Load(awaited=((*DAEMON, expected),))
    assert not load.is_gone


@pytest.mark.parametrize(
    "daemon", [pod(names.NODE, "a", Idle="", Drain=DRAIN), pod(names.NODE, "a", ready=False)], ids=["drained", "never"]
)
def test_a_daemon_without_jobs_leaves_and_is_not_waited_for(daemon: Json) -> None:
    load = load_of([owned(daemon)])
    assert load == Load(released=(DAEMON,))
    assert load.is_gone, "an operator that starts it again would hold up the repair for ever"


def test_a_pod_of_an_unknown_kind_is_waited_for() -> None:
    other = owned(pod("worker", "a"))
    assert load_of([other]).awaited == ((names.NAMESPACE, "worker-0", "a Pod of a NodeSet"),)
