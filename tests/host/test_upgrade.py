"""Upgrades: busy nodes, disruption budgets, roll-backs, and settings that differ or can't be read."""

from __future__ import annotations

import pytest

from tests.host.harness import Harness
from tests.host.installers import NEW, OLD, intruder


def test_upgrade_of_an_idle_node_restarts_what_saw_the_old_driver(served: Harness) -> None:
    before = {pod["metadata"]["uid"] for pod in served.cluster.pods.values()}
    served.want(served.new)
    served.wait("the new driver serves", lambda: served.serves_new() and served.operator.settled())
    after = {pod["metadata"]["uid"] for pod in served.cluster.pods.values()}
    assert not before & after, "a pod of the operator still holds on to the old driver"
    served.check_host()


def test_upgrade_waits_for_gpu_pods_with_the_old_driver_in_service(served: Harness) -> None:
    served.cluster.gpu_pod()
    served.want(served.new)
    served.wait("it names the pod that it waits for", lambda: "training-0" in served.status[2])
    served.pause(0.3, lambda: served.serves(OLD), "the old driver serves the pod")
    assert ("team", "training-0") in served.cluster.pods
    assert not served.gated, "nothing is wrong with the driver that serves"
    served.cluster.pods.clear()
    served.operator.follow()
    served.wait("the new driver serves", lambda: served.serves_new() and served.operator.settled())


def test_upgrade_drains_and_keeps_to_disruption_budgets(served: Harness) -> None:
    served.cluster.gpu_pod("training-0")
    served.cluster.gpu_pod("training-1")
    served.cluster.no_disruption = {"training-1"}
    served.cluster.more_rights = {"POST /api/v1/namespaces/[^/]+/pods/[^/]+/eviction"}
    served.want(served.new, upgrade="drain")
    served.wait("one pod is evicted", lambda: ("team", "training-0") not in served.cluster.pods)
    served.wait("it reports the budget", lambda: "training-1" in served.status[2] and served.status[0] != "True")
    served.pause(0.3, lambda: served.serves(OLD), "the old driver serves the other pod")
    served.cluster.no_disruption.clear()
    served.wait("the new driver serves", served.serves_new)


@pytest.mark.deep  # in `make test`: the drain above
def test_upgrade_by_force_deletes_gpu_pods(served: Harness) -> None:
    served.cluster.gpu_pod()
    served.cluster.no_disruption = {"training-0"}
    served.cluster.more_rights = {"DELETE /api/v1/namespaces/[^/]+/pods/[^/]+"}
    served.want(served.new, upgrade="force")
    served.wait("the new driver serves", served.serves_new)
    assert ("team", "training-0") not in served.cluster.pods


def test_new_driver_that_fails_is_rolled_back_once_from_the_cache(served: Harness) -> None:
    served.mirror.files.pop(served.old.name)
    served.node.fault("refuses-new")
    served.want(served.new)
    served.wait(
        "the old driver serves again",
        lambda: served.memory.get("rolled_back") and served.serves(OLD) and not served.gated,
    )
    served.wait("it says why", lambda: served.status[0] == "False" and NEW in served.status[2])
    served.wait("the operands run", served.operator.settled)
    runs = [version for version, _, _ in served.node.executed()]
    served.pause(
        0.6, lambda: [version for version, _, _ in served.node.executed()] == runs, "it does not try again by itself"
    )
    assert runs.count(OLD) == 2
    served.check_host()
    served.node.mend("refuses-new")
    served.try_again()
    served.wait("the new driver serves", lambda: served.serves_new() and served.operator.settled())


@pytest.mark.deep  # in `make test`: the roll-back above, from the cache
def test_new_driver_is_fetched_before_the_old_one_goes(served: Harness) -> None:
    served.mirror.files[served.new.name] = intruder()
    served.want(served.new)
    served.wait(
        "it says that the checksum is wrong", lambda: "sha256" in served.status[2] or "checksum" in served.status[2]
    )
    assert served.serves(OLD)
    assert not served.gated
    assert served.operator.settled()


@pytest.mark.deep  # in `make test`: the settings in test_grid_agent_settings.py
def test_each_node_takes_the_settings_of_its_pool(harness: Harness) -> None:
    harness.cluster.set_labels({"kubernetes.azure.com/agentpool": "rtx"})
    harness.want(harness.old)
    other = dict(harness.wanted)
    harness.want(harness.new)
    harness.write_settings({"pools": {"other": other, "rtx": harness.wanted}})
    harness.begin()
    harness.wait("the new driver serves", harness.serves_new)
    assert [version for version, _, _ in harness.node.executed()] == [NEW]


@pytest.mark.deep  # in `make test`: the settings in test_grid_agent_settings.py
def test_settings_that_cannot_be_read_leave_the_driver_alone(served: Harness) -> None:
    served.node.write("/opt/pod/wanted.json", '{"version": ')
    served.pause(0.5, lambda: served.serves(OLD), "the driver serves")
    if served.pods[-1].code() is not None:
        assert served.pods[-1].code() == 2
    assert "wanted.json" in served.pods[-1].said()
