"""A repair keeps its limits whoever else works on the cluster: hands on its node, other repairs, standing faults."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from tests.support.cases import in_one_test
from tests.support.repair_world import POOL, SCALE_SET, Fake
from workbench.health.replacement.cluster import RepairCluster, held_by, is_cordoned
from workbench.health.replacement.record import Action, Record, RepairStep
from workbench.health.replacement.reservation import BEGINNING, Taken, reserve
from workbench.health.replacement.run import begin, cancel, keep_record, new_record, repair, unfinished
from workbench.health.replacement.steps import perform
from workbench.health.replacement.world import Stopped, World

NODE, OTHER = f"{SCALE_SET}000001", f"{SCALE_SET}000002"
HOURS = timedelta(hours=2)
WORKING = (
    RepairStep.DRAIN,
    RepairStep.REPORT,
    RepairStep.REMOVE,
    RepairStep.RESTORE,
    RepairStep.AWAIT,
    RepairStep.ACCEPT,
    RepairStep.UNCORDON,
)


def begun(fake: Fake, action: Action = "reboot", node: str = NODE) -> Record:
    world = fake.world()
    return begin(new_record(fake.nodes[node], action, "test", world, HOURS), world)


def at_step(fake: Fake, step: RepairStep, action: Action = "reboot") -> Record:
    """A repair whose command has ended before it performed the step."""
    record, world = begun(fake, action), fake.world()
    while record.step is not step:
        result = perform(record, world)
        if isinstance(result, Record):
            keep_record(result, world)
            record = result
        else:
            fake.sleep(5)
    return record


def resumed(fake: Fake, record: Record) -> Record:
    return repair(record, fake.world(), lambda _: None, fake.sleep)


def by_hand(fake: Fake, node: str, *, cordoned: bool) -> None:
    """As kubectl cordon and uncordon: annotations stay."""
    fake.nodes[node]["spec"]["unschedulable"] = cordoned
    fake.touch(node)


@pytest.mark.parametrize("step", [each for each in WORKING if each not in (RepairStep.REPORT, RepairStep.RESTORE)])
def test_a_node_that_was_uncordoned_is_left_alone_after_a_resume_at_each_step(step: RepairStep) -> None:
    fake = Fake()
    record = at_step(fake, step)
    fake.sleep(5)  # what Azure was asked for
    by_hand(fake, NODE, cordoned=False)
    fake.add_pod(NODE, "web", "ReplicaSet")
    before = (dict(fake.pods), list(fake.restarted), list(fake.accepted))
    with pytest.raises(Stopped, match=f"{NODE} was uncordoned during its repair; nothing more is done to it"):
        resumed(fake, record)
    assert (dict(fake.pods), fake.restarted, fake.accepted) == before
    assert not is_cordoned(fake.nodes[NODE])


def test_a_drain_stops_between_two_evictions_when_the_node_is_given_back() -> None:
    fake = Fake()
    for number in range(4):
        fake.add_pod(NODE, f"web-{number}", "ReplicaSet")
    record = at_step(fake, RepairStep.DRAIN)
    world = fake.world()
    evict = world.cluster.evict

    def evicted(*pod: str) -> None:
        evict(*pod)
        by_hand(fake, NODE, cordoned=False)

    world.cluster.evict = evicted  # type: ignore[method-assign]
    with pytest.raises(Stopped, match="was uncordoned"):
        perform(record, world)
    assert len(fake.pods) == 3


def test_a_pod_that_was_created_again_elsewhere_is_not_evicted_in_place_of_the_one_before() -> None:
    fake = Fake()
    fake.add_pod(NODE, "db-0", "StatefulSet")
    record = at_step(fake, RepairStep.DRAIN)
    world = fake.world()
    pods = world.cluster.pods

    def moved(node: str) -> list[dict[str, Any]]:
        found = pods(node)
        fake.add_pod(OTHER, "db-0", "StatefulSet")
        return found

    world.cluster.pods = moved  # type: ignore[method-assign]
    perform(record, world)
    assert fake.pods["default", "db-0"]["spec"]["nodeName"] == OTHER


def test_a_new_node_that_was_given_back_is_left_alone() -> None:
    fake = Fake()
    record = at_step(fake, RepairStep.ACCEPT, "replace")
    by_hand(fake, record.new_node, cordoned=False)
    with pytest.raises(Stopped, match=f"{record.new_node} was uncordoned"):
        resumed(fake, record)
    assert fake.accepted == []


def test_a_new_node_that_a_person_has_cordoned_stays_so_after_its_acceptance() -> None:
    fake = Fake()
    record = at_step(fake, RepairStep.AWAIT, "replace")
    while not (new := sorted(set(fake.nodes) - {f"{SCALE_SET}{index:06d}" for index in range(4)})):
        fake.sleep(5)
    by_hand(fake, new[0], cordoned=True)
    assert resumed(fake, record).outcome.endswith("stays cordoned, as it was before")
    assert is_cordoned(fake.nodes[new[0]])
    assert not held_by(fake.nodes[new[0]])


def test_a_node_whose_hold_was_taken_over_is_left_alone() -> None:
    fake = Fake()
    record = at_step(fake, RepairStep.REMOVE)
    fake.nodes[NODE]["metadata"]["annotations"]["physical-ai/repair"] = "repair-of-another"
    with pytest.raises(Stopped, match="is held by another repair, repair-of-another"):
        resumed(fake, record)
    del fake.nodes[NODE]["metadata"]["annotations"]["physical-ai/repair"]
    with pytest.raises(Stopped, match="another holder keeps the node cordoned"):
        resumed(fake, record)
    assert not fake.restarted


def test_a_cordon_that_was_there_before_is_remembered_however_the_first_command_ended() -> None:
    fake = Fake()
    by_hand(fake, NODE, cordoned=True)
    record = at_step(fake, RepairStep.CORDON)
    world = fake.world()
    kept = perform(record, world)
    assert isinstance(kept, Record)
    keep_record(kept, world)
    perform(kept, world)  # the command ends before it keeps the step
    assert held_by(fake.nodes[NODE]) == record.name
    assert resumed(fake, kept).outcome.endswith("stays cordoned, as it was before")


def test_a_person_who_uncordons_at_the_moment_of_the_cordon_is_noticed() -> None:
    """The cordon is of the version that was read."""
    fake = Fake()
    record, world = at_step(fake, RepairStep.CORDON), fake.world()
    node = world.cluster.node

    def read_then_changed(wanted: str) -> dict[str, Any] | None:
        found = node(wanted)
        fake.touch(wanted)
        return found

    world.cluster.node = read_then_changed  # type: ignore[method-assign]
    assert perform(record, world) == f"{NODE}, which was changed at this moment"
    assert not is_cordoned(fake.nodes[NODE])


# The budget


def test_two_commands_that_were_confirmed_together_repair_one_node() -> None:
    fake = Fake()
    worlds = [fake.world(), fake.world()]
    records = [
        new_record(fake.nodes[node], "reboot", "test", world, HOURS)
        for node, world in zip((NODE, OTHER), worlds, strict=True)
    ]
    begin(records[0], worlds[0])
    with pytest.raises(Stopped, match=f"{NODE} of pool {POOL} is in repair, at the step evidence.*--cancel ends it"):
        begin(records[1], worlds[1])
    assert [each.node for each in fake.world().cluster.records()] == [NODE]


def test_commands_at_any_interleaving_of_their_requests_repair_one_node() -> None:
    """Threads against one API server that is as slow as its slowest caller."""
    for seed in range(20):
        fake = Fake(size=4)
        lock, gate = threading.Lock(), threading.Barrier(3)
        ended: list[str] = []

        def send(*request: Any, fake: Fake = fake, lock: Any = lock) -> Any:
            with lock:
                return Fake.send(fake, *request)

        def command(
            node: str,
            fake: Fake = fake,
            gate: threading.Barrier = gate,
            send: Callable[..., Any] = send,
            ended: list[str] = ended,
        ) -> None:
            world: World = replace(fake.world(), cluster=RepairCluster(send))
            record = new_record(fake.nodes[node], "reboot", "test", world, HOURS)
            gate.wait()
            try:
                found = begin(record, world)
                while found.step is not RepairStep.DRAIN:
                    result = perform(found, world)
                    assert isinstance(result, Record)
                    keep_record(result, world)
                    found = result
                ended.append(node)
            except Stopped:
                pass

        threads = [threading.Thread(target=command, args=(node,)) for node in list(fake.nodes)[:3]]
        for each in threads:
            each.start()
        for each in threads:
            each.join(20)
        assert len(ended) == 1, seed
        assert [is_cordoned(each) for each in fake.nodes.values()].count(True) == 1, seed


def test_a_reservation_of_a_command_that_died_expires() -> None:
    fake = Fake()
    world = fake.world()
    reserve(world.cluster, new_record(fake.nodes[NODE], "reboot", "test", world, HOURS), world.now())
    late = new_record(fake.nodes[OTHER], "reboot", "test", world, HOURS)
    with pytest.raises(Taken, match=f"another command begins a repair of {NODE}.* is free again at 12:05 UTC"):
        reserve(world.cluster, late, world.now())
    fake.clock += BEGINNING
    assert begin(late, world).node == OTHER


def test_a_command_that_slept_while_its_reservation_expired_does_not_begin() -> None:
    fake = Fake()
    world, other = fake.world(), fake.world()
    slow = new_record(fake.nodes[NODE], "reboot", "test", world, HOURS)
    write = world.cluster.begin

    def sleeps(record: Record) -> Record:
        fake.clock += BEGINNING
        begin(new_record(fake.nodes[OTHER], "reboot", "test", other, HOURS), other)
        return write(record)

    world.cluster.begin = sleeps  # type: ignore[method-assign]
    with pytest.raises(Stopped, match=f"{OTHER} of pool"):
        begin(slow, world)
    assert unfinished(fake.world().cluster, NODE) is None
    assert resumed(fake, begun_record(fake, OTHER)).has_ended


def begun_record(fake: Fake, node: str) -> Record:
    found = unfinished(fake.world().cluster, node)
    assert found is not None
    return found


def test_a_pool_that_lost_a_node_since_the_prompt_is_not_asked_for_another() -> None:
    fake = Fake()
    record = at_step(fake, RepairStep.CORDON)
    by_hand(fake, OTHER, cordoned=True)
    with pytest.raises(Stopped, match=f"{NODE} was not cordoned: {OTHER} of pool {POOL} are already out of service"):
        resumed(fake, record)
    by_hand(fake, OTHER, cordoned=False)
    assert resumed(fake, record).has_ended


def test_two_commands_with_one_repair_do_not_undo_each_others_steps() -> None:
    fake = Fake()
    slow = at_step(fake, RepairStep.DRAIN)
    world = fake.world()
    assert resumed(fake, slow).has_ended
    with pytest.raises(Stopped, match=r"another command goes on with the repair of .*, which has ended"):
        perform(slow, world)
    fake.maps.pop(slow.name)
    with pytest.raises(Stopped, match="was deleted; nothing more is done"):
        perform(slow, world)


def test_a_record_whose_answer_was_lost_is_its_own() -> None:
    fake = Fake()
    record, world = at_step(fake, RepairStep.CORDON), fake.world()
    moved = record.at(RepairStep.DRAIN)
    world.cluster.record(record.name)
    fake.world().cluster.save(moved)  # the first attempt arrived
    keep_record(moved, world)


# What stands against a node


def test_an_accepted_node_waits_until_nothing_speaks_against_it() -> None:
    fake = Fake(standing={NODE: "alert GPURowRemapFailed"})
    record = at_step(fake, RepairStep.UNCORDON)
    waits = perform(record, fake.world())
    assert waits == (
        f"what still speaks against {NODE} to end, until {record.proven + timedelta(minutes=30):%H:%M} UTC:"  # type: ignore[operator]
        " alert GPURowRemapFailed"
    )
    assert is_cordoned(fake.nodes[NODE])
    fake.standing.clear()
    assert resumed(fake, record).outcome == f"{NODE} was accepted and takes work"


def test_a_fault_that_stands_after_its_time_keeps_the_node_cordoned() -> None:
    fake = Fake(standing={NODE: "alert GPURowRemapFailed"})
    with pytest.raises(Stopped, match="passed acceptance, but stays cordoned: alert GPURowRemapFailed"):
        resumed(fake, begun(fake))
    assert is_cordoned(fake.nodes[NODE])


def test_what_could_not_be_read_is_said_at_the_end() -> None:
    fake = Fake(unread=("alerts, because no Prometheus was named",))
    assert resumed(fake, begun(fake)).outcome.endswith("takes work; not known: alerts, because no Prometheus was named")


def test_a_node_that_started_again_after_its_acceptance_is_accepted_again() -> None:
    fake = Fake()
    record = at_step(fake, RepairStep.UNCORDON)
    fake.nodes[NODE]["status"]["nodeInfo"]["bootID"] += "-once-more"
    assert resumed(fake, record).has_ended
    assert fake.accepted == [NODE, NODE]


def test_a_node_that_lost_its_gpu_after_its_acceptance_takes_no_work() -> None:
    fake = Fake()
    record = at_step(fake, RepairStep.UNCORDON)
    fake.nodes[NODE]["status"]["allocatable"] = {}
    with pytest.raises(Stopped, match=f"the GPUs of {NODE}: 0 of 1 nvidia.com/gpu"):
        resumed(fake, record)
    assert is_cordoned(fake.nodes[NODE])


def test_the_node_is_accepted_at_the_level_of_its_record() -> None:
    fake = Fake()
    world = fake.world()
    record = begin(new_record(fake.nodes[NODE], "reboot", "Xid 48", world, HOURS, "full"), world)
    assert resumed(fake, record).has_ended
    assert fake.levels == ["full"]


# Spot, and machines that Azure has nothing to do with


@in_one_test(
    "step",
    [RepairStep.CORDON, RepairStep.DRAIN, RepairStep.REMOVE, RepairStep.AWAIT, RepairStep.ACCEPT, RepairStep.UNCORDON],
)
@in_one_test("action", ["reboot", "replace"])
def test_a_spot_machine_that_azure_takes_during_its_repair_blocks_nothing(step: RepairStep, action: Action) -> None:
    fake = Fake(autoscaled=True, least=4)
    record = at_step(fake, step, action) if (step, action) != (RepairStep.AWAIT, "replace") else begun(fake, action)
    gone = record.new_node or record.node
    if gone in fake.nodes:
        fake.remove(gone)
        fake.count -= 1
    ended = resumed(fake, record)
    assert ended.has_ended
    assert begun(fake, node=OTHER).node == OTHER


def test_a_machine_that_azure_has_nothing_to_do_with_is_restarted_by_its_owner() -> None:
    fake = Fake(by_hand=True)
    fake.add_pod(NODE, "web", "ReplicaSet")
    record = at_step(fake, RepairStep.REMOVE)
    assert not fake.pods
    world = fake.world()
    kept = perform(record, world)
    assert isinstance(kept, Record)
    keep_record(kept, world)
    assert "you to restart" in str(perform(kept, world))
    fake._restart(NODE)  # pyright: ignore[reportPrivateUsage]
    assert resumed(fake, kept).outcome == f"{NODE} was accepted and takes work"


def test_a_machine_that_its_owner_does_not_restart_stays_cordoned_and_can_be_resumed() -> None:
    fake = Fake(by_hand=True)
    record = begun(fake, "replace")
    with pytest.raises(Stopped, match=r"was not restarted until .* and stays cordoned"):
        resumed(fake, record)
    fake.remove(NODE)  # the vendor took it away, and another one joins
    new = fake.add_node()
    found = begun_record(fake, NODE)
    assert resumed(fake, found).new_node == new
    assert not is_cordoned(fake.nodes[new])


def test_a_canceled_repair_leaves_a_node_alone_that_was_given_back_and_cordoned_by_nobody() -> None:
    fake = Fake()
    record = at_step(fake, RepairStep.DRAIN)
    by_hand(fake, NODE, cordoned=False)
    cancel(record, fake.world())
    assert not is_cordoned(fake.nodes[NODE])
    assert not held_by(fake.nodes[NODE])
