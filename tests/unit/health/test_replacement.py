"""A node is replaced or restarted in an order in which no work is killed, and from any point in which it was left."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.support.repair_world import GPU, POOL, SCALE_SET, Fake, Killed
from workbench.health.arm import Refused
from workbench.health.replacement import run
from workbench.health.replacement.record import Action, Record, RepairStep, config_map, read
from workbench.health.replacement.run import cancel, new_record, repair, unfinished
from workbench.health.replacement.steps import Stopped, perform

NODE = f"{SCALE_SET}000001"
NEW = f"{SCALE_SET}000004"
HOURS = timedelta(hours=2)


def begin(fake: Fake, action: Action = "replace", node: str = NODE) -> Record:
    world = fake.world()
    found = unfinished(world.cluster, node)
    return found or run.begin(new_record(fake.nodes[node], action, "test", world, HOURS), world)


def whole(fake: Fake, action: Action = "replace") -> Record:
    return repair(begin(fake, action), fake.world(), lambda _: None, fake.sleep)


def at_step(fake: Fake, step: RepairStep, action: Action = "replace") -> Record:
    """A repair that has come to the step, and the command that performed it has ended."""
    record, world = begin(fake, action), fake.world()
    while record.step is not step:
        result = perform(record, world)
        if isinstance(result, Record):
            run.keep_record(result, world)
            record = result
        else:
            fake.sleep(5)
    return record


def again(fake: Fake, action: Action) -> None:
    """The same command once more, which a user gives where the first one did not report the end."""
    if not any(each.has_ended for each in fake.world().cluster.records()):
        whole(fake, action)


def spec(fake: Fake, node: str) -> bool:
    return bool(fake.nodes[node]["spec"].get("unschedulable"))


def test_a_machine_is_replaced_and_its_successor_takes_work_after_acceptance() -> None:
    fake = Fake()
    fake.add_pod(NODE, "web", "ReplicaSet")
    fake.add_pod(NODE, "exporter", "DaemonSet")
    ended = whole(fake)
    assert (fake.deleted, fake.accepted, fake.count) == ([NODE], [NEW], 4)
    assert ended.outcome == f"{NEW} was accepted and takes work"
    assert list(fake.reports.values()) == [{"node": NODE}]
    assert not any(spec(fake, node) for node in fake.nodes)
    assert "physical-ai/repair" not in fake.nodes[NEW]["metadata"]["annotations"]


@pytest.mark.parametrize("action", ["replace", "reboot"])
@pytest.mark.parametrize(
    ("autoscaled", "reuses"),
    [
        (False, False),
        # In `make test`: the pool above, and a machine with the name of the deleted one below.
        pytest.param(True, False, marks=pytest.mark.deep),
        pytest.param(False, True, marks=pytest.mark.deep),
    ],
)
@pytest.mark.parametrize("effect", ["kill_before", "kill_after"])
def test_killed_at_any_request_and_run_again_it_ends_the_same(
    action: Action, autoscaled: bool, reuses: bool, effect: str
) -> None:
    def made() -> Fake:
        fake = Fake(autoscaled=autoscaled, least=4, reuses_names=reuses)
        fake.add_pod(NODE, "web", "ReplicaSet")
        return fake

    undisturbed = made()
    whole(undisturbed, action)
    assert undisturbed.calls > 15
    # The pools differ in a few requests: every third one shows those.
    for number in range(1, undisturbed.calls + 1, 3 if autoscaled or reuses else 1):
        fake = made()
        setattr(fake, effect, number)
        with pytest.raises(Killed):
            whole(fake, action)
        fake.kill_before = fake.kill_after = -1
        again(fake, action)
        assert fake.deleted == ([NODE] if action == "replace" else []), number
        assert len(fake.world().cluster.records()) == 1, number
        assert len(fake.nodes) == 4, number
        assert not any(spec(fake, node) for node in fake.nodes), number
        if action == "replace":
            assert fake.state() == undisturbed.state(), number
        else:  # a second restart of a machine that was not up again yet changes nothing
            assert set(fake.restarted) == {NODE}, number


def test_work_is_waited_for_and_never_ended() -> None:
    fake = Fake()
    fake.add_pod(NODE, "task", labels={"osmo.workflow_id": "train-1"})
    fake.add_pod(NODE, "job", "Job")
    said: list[str] = []
    with pytest.raises(Stopped, match=r"the drain of .* timed out.*job .*task .*train-1") as stopped:
        repair(begin(fake), fake.world(), said.append, fake.sleep)
    assert "--deadline" in str(stopped.value)
    assert set(fake.pods) == {("default", "task"), ("default", "job")}
    assert not fake.deleted
    assert spec(fake, NODE)
    fake.pods.clear()
    assert whole(fake).outcome.endswith("takes work")


def test_a_disruption_budget_is_waited_for() -> None:
    fake = Fake(blocked={"web"})
    fake.add_pod(NODE, "web", "ReplicaSet")
    fake.pending.append(lambda: fake.pending.append(fake.blocked.clear))
    said: list[str] = []
    repair(begin(fake), fake.world(), said.append, fake.sleep)
    assert any("disruption budget" in each for each in said)
    assert fake.deleted == [NODE]


def test_a_pod_with_local_data_is_not_evicted_unless_its_owner_allows_it() -> None:
    fake = Fake()
    fake.add_pod(NODE, "cache", "ReplicaSet")
    fake.pods["default", "cache"]["spec"]["volumes"] = [{"name": "data", "emptyDir": {}}]
    with pytest.raises(Stopped, match="has data in emptyDir data"):
        whole(fake)
    annotations = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "true"}
    fake.pods["default", "cache"]["metadata"]["annotations"] = annotations
    assert whole(fake).has_ended


def test_a_node_that_gets_work_after_its_drain_is_not_deleted() -> None:
    fake = Fake()
    world = fake.world()
    record = at_step(fake, RepairStep.REMOVE)
    fake.add_pod(NODE, "late", "Job")
    with pytest.raises(Stopped, match="has work again after its drain: default/late"):
        repair(record, world, lambda _: None, fake.sleep)
    assert not fake.deleted


def test_only_one_node_of_a_pool_is_in_repair() -> None:
    fake = Fake(size=12)
    begin(fake)
    with pytest.raises(Stopped, match=f"{NODE} of pool {POOL} is in repair"):
        begin(fake, node=f"{SCALE_SET}000002")


def test_a_pool_with_its_budget_out_of_work_loses_no_further_node() -> None:
    fake = Fake(size=4)
    fake.nodes[f"{SCALE_SET}000003"]["spec"]["unschedulable"] = True
    with pytest.raises(Stopped, match="are already out of service; of its 4 nodes 1 may be out at once"):
        begin(fake)
    fake = Fake(size=8)
    fake.nodes[f"{SCALE_SET}000003"]["status"]["conditions"][0]["status"] = "Unknown"
    assert begin(fake).node == NODE


def test_a_successor_that_fails_acceptance_stays_cordoned_and_is_accepted_by_another_run() -> None:
    fake = Fake(refuse_acceptance="bandwidth: 20 GB/s of 48")
    with pytest.raises(Stopped, match="did not pass acceptance of the level quick and stays cordoned: bandwidth"):
        whole(fake)
    assert spec(fake, NEW)
    fake.refuse_acceptance = ""
    assert repair(begin(fake, node=NEW), fake.world(), lambda _: None, fake.sleep).has_ended
    assert not spec(fake, NEW)
    assert fake.deleted == [NODE]


def test_a_repair_ends_without_a_node_where_autoscaling_needs_none() -> None:
    fake = Fake(autoscaled=True)
    assert "needs no further node now" in whole(fake).outcome
    assert (fake.count, fake.accepted) == (3, [])


def test_a_node_that_was_cordoned_before_its_restart_stays_cordoned() -> None:
    fake = Fake()
    fake.nodes[NODE]["spec"]["unschedulable"] = True
    ended = whole(fake, "reboot")
    assert fake.restarted == [NODE]
    assert not fake.deleted
    assert spec(fake, NODE)
    assert ended.outcome.endswith("stays cordoned, as it was before")


def test_azure_at_work_on_the_pool_is_waited_for() -> None:
    fake = Fake(busy=3)
    assert whole(fake).has_ended
    assert fake.deleted == [NODE]


def test_a_refusal_of_azure_ends_the_run_with_its_message() -> None:
    fake = Fake()
    from workbench.health.arm import Answer

    def refuse(method: str, path: str, body: object) -> Answer:
        del path, body
        if method == "GET":
            return Answer(200, {"properties": {"count": 4, "provisioningState": "Succeeded"}})
        return Answer(403, {"error": {"code": "AuthorizationFailed", "message": "no authorization to perform action"}})

    fake._azure = refuse  # type: ignore[method-assign]
    with pytest.raises(Refused, match=r"refuses to delete machine .* \(403 AuthorizationFailed\)"):
        whole(fake)


def test_a_canceled_repair_gives_the_node_back_unless_its_machine_was_touched() -> None:
    fake = Fake()
    fake.add_pod(NODE, "job", "Job")
    with pytest.raises(Stopped):
        whole(fake)
    found = unfinished(fake.world().cluster, NODE)
    assert found is not None
    assert cancel(found, fake.world()).outcome == "canceled at the step drain"
    assert not spec(fake, NODE)
    assert unfinished(fake.world().cluster, NODE) is None


def test_each_repair_of_one_machine_has_its_own_record() -> None:
    fake = Fake()
    assert whole(fake, "reboot").has_ended
    cancel(begin(fake, "reboot"), fake.world())
    assert whole(fake, "replace").outcome == f"{NEW} was accepted and takes work"
    assert (fake.restarted, fake.deleted) == ([NODE], [NODE])
    records = {each.name.rpartition("-")[2]: each.action for each in fake.world().cluster.records()}
    assert records == {"uid00001": "reboot", "2": "reboot", "3": "replace"}


def test_a_record_reads_as_it_was_written() -> None:
    fake = Fake()
    record = new_record(fake.nodes[NODE], "replace", "Xid 79", fake.world(), HOURS).at(
        RepairStep.AWAIT, uids_before=("a",)
    )
    assert read(config_map(record)) == record


def test_a_node_of_no_gpu_pool_is_refused() -> None:
    fake = Fake()
    fake.nodes[NODE]["metadata"]["labels"] = {"kubernetes.azure.com/agentpool": "cpu"}
    with pytest.raises(Stopped, match="is of pool cpu, which is not a GPU pool"):
        begin(fake)
    assert GPU


def test_a_new_machine_with_the_name_of_the_deleted_one_is_not_deleted() -> None:
    fake = Fake(autoscaled=True, reuses_names=True)
    begin(fake)

    def killed(_: float) -> None:
        if fake.pending:  # Azure deletes the machine
            raise Killed
        fake.sleep(1)

    with pytest.raises(Killed):
        repair(begin(fake), fake.world(), lambda _: None, killed)
    fake.sleep(600)
    assert fake.add_node() == NODE  # the autoscaler has asked for another one
    fake.count += 1
    assert whole(fake).new_node == NODE
    assert fake.deleted == [NODE]
