"""In-memory cluster in which GPUs fail, gangs run, NVSentinel acts and nodes are repaired, one step after another.

All decisions are those of the code that the simulator's NVSentinel and `physai node replace` run.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from parts.nvsentinel.names import BREAKER_CONFIG_MAP, FAULT_QUARANTINE
from physical_ai.kubernetes.objects import at, labels, name
from physical_ai.readiness.reader import Unreachable
from physical_ai.settings.facts.health import budget
from simulator.faults.catalogue import faults
from simulator.faults.record import ANNOTATION as FAULTS
from simulator.faults.record import Injected, annotation, injected, node_faults
from simulator.nvsentinel.events import HealthEvent, changes, failures
from simulator.nvsentinel.modules import TRIPPED, FaultQuarantine, NodeDrainer, Store
from simulator.nvsentinel.quarantine import tracked
from tests.support.health_cluster import GANG, Broken, Cluster, Policy, Sentinel
from tests.support.repair_world import POOL, SCALE_SET, Json
from workbench.health.replacement.cluster import boot_id, held_by, is_cordoned, uid
from workbench.health.replacement.record import Action, Record
from workbench.health.replacement.run import begin, cancel, keep_record, new_record, unfinished
from workbench.health.replacement.steps import Stopped, World, perform

MONITORS = {"operator": ("gpu-health-monitor", "syslog-health-monitor"), "grid": ("syslog-health-monitor",)}


class HealthWorld:
    """Sequence of random events; the same `seed` repeats it."""

    def __init__(self, seed: int, policy: Policy) -> None:
        self.random, self.policy = random.Random(seed), policy  # noqa: S311 - repeatable, not secret
        size = self.random.choice([1, 2, 3, 4, 5, 7, 8, 9, 12])
        autoscaled = self.random.random() < 0.5
        self.cluster = Cluster(size=size, autoscaled=autoscaled, least=size, moved=self._moved)
        self.story: list[str] = [f"a pool of {size} nodes"]
        self._sentinel = Sentinel(self.cluster, policy, self._ended)
        self._store, self._failing = Store(), dict[str, list[HealthEvent]]()
        self._processes, self._gangs = 0, 0
        self._restart_quarantine()
        self._drainer = NodeDrainer(self._sentinel, self._store)
        self._by_hand: set[str] = set()
        """Nodes that a person has cordoned."""
        self._owed: set[str] = set()
        """Nodes that were taken out of service because of a fault or a repair, and have to be accepted to return."""
        self._record: Record | None = None

    def run(self, steps: int) -> None:
        """Plays random steps.

        Raises:
            Broken: an invariant does not hold. The text tells all events up to there.
        """
        events: list[tuple[Callable[[], None], int]] = [
            (self._fault, 6),
            (self._heal, 2),
            (self._start_gang, 4),
            (self._end_gang, 2),
            (self._time, 4),
            (self._restart_quarantine, 1),
            (self._reset_breaker, 1),
            (self._cordon_by_hand, 1),
            (self._uncordon_by_hand, 1),
            (self._begin_repair, 2),
            (self._go_on, 8),
            (self._cancel, 1),
        ]
        choices, weights = [each for each, _ in events], [weight for _, weight in events]
        try:
            for _ in range(steps):
                self.random.choices(choices, weights)[0]()
                self._monitors()
                if FAULT_QUARANTINE in self.policy.files and self.random.random() < 0.9:
                    self._quarantine.run(f"fault-quarantine-{self._processes}")
                if self.policy.drains:
                    self._drainer.run()
                self._check_budget()
        except Broken as broken:
            raise Broken(f"{broken}\n  " + "\n  ".join(self.story)) from None

    # What happens

    def _fault(self) -> None:
        node = self.random.choice(list(self.cluster.all().values()))
        driver = labels(node).get("physical-ai/gpu-driver", "")
        possible = [each for each in faults().values() if not each.drivers or driver in each.drivers]
        if not driver or not possible:
            return
        row = self.random.choice(possible)
        held = [*injected(node), Injected(row.name, 0, 0)]
        node["metadata"]["annotations"][FAULTS] = annotation(held)
        self.story.append(f"{row.name} on {_short(node)}")

    def _heal(self) -> None:
        node = self.random.choice(list(self.cluster.all().values()))
        if node["metadata"]["annotations"].pop(FAULTS, None):
            self.story.append(f"{_short(node)} reports no fault any more")

    def _start_gang(self) -> None:
        free = [key for key, item in self.cluster.nodes.items() if not is_cordoned(item) and not self._has_gang(key)]
        if not free:
            return
        self._gangs += 1
        chosen = self.random.sample(free, self.random.randint(1, len(free)))
        for index, node in enumerate(chosen):
            self.cluster.add_pod(node, f"gang{self._gangs}-{index}", labels={GANG: f"gang{self._gangs}"})
        if self.random.random() < 0.5:
            self.cluster.add_pod(chosen[0], f"web{self._gangs}", "ReplicaSet")
        self.story.append(f"gang{self._gangs} starts on {len(chosen)} nodes")

    def _end_gang(self) -> None:
        running = sorted({labels(pod)[GANG] for pod in self.cluster.pods.values() if GANG in labels(pod)})
        if running:
            ended = self.random.choice(running)
            self.cluster.pods = {key: pod for key, pod in self.cluster.pods.items() if labels(pod).get(GANG) != ended}
            self.story.append(f"{ended} ends")

    def _time(self) -> None:
        passed = self.random.choice([5, 120, 1200, 7200, 86400])
        self.cluster.clock += timedelta(seconds=passed)
        self.story.append(f"{passed} s pass")

    def _restart_quarantine(self) -> None:
        self._processes += 1
        self._quarantine = FaultQuarantine(self._sentinel, self._store)
        self.story.append("fault-quarantine starts")

    def _reset_breaker(self) -> None:
        held = self.cluster.breaker.get(BREAKER_CONFIG_MAP)
        if held is not None and held["data"]["status"] == TRIPPED:
            held["data"]["status"] = "CLOSED"
            self.story.append("a person resets the breaker")
            self._restart_quarantine()

    def _cordon_by_hand(self) -> None:
        free = [key for key, item in self.cluster.nodes.items() if not is_cordoned(item)]
        if free:
            key = self.random.choice(free)
            self.cluster.nodes[key]["spec"]["unschedulable"] = True
            self._by_hand.add(key)
            self.story.append(f"a person cordons {key[-2:]}")

    def _uncordon_by_hand(self) -> None:
        """Uncordons a node that a person has cordoned and that neither a repair nor NVSentinel holds."""
        for key in sorted(self._by_hand & self.cluster.nodes.keys()):
            node = self.cluster.nodes[key]
            if not held_by(node) and tracked(node) is None:
                node["spec"].pop("unschedulable", None)
                self._owed.discard(key)
                self.story.append(f"a person uncordons {key[-2:]}")
                self._by_hand.discard(key)
                return

    # Repairs

    def _world(self) -> World:
        return self.cluster.world(reports=False)

    def _begin_repair(self) -> None:
        if not self.cluster.nodes:  # its only machine has been deleted, and the next one is on its way
            return
        key = self.random.choice(list(self.cluster.nodes))
        action: Action = self.random.choice(["replace", "reboot"])
        world = self._world()
        if unfinished(world.cluster, key) is not None:  # the command goes on with that one
            return
        open_ones = [each for each in world.cluster.records() if not each.has_ended]
        try:
            record = new_record(self.cluster.nodes[key], action, "test", world, timedelta(hours=2))
        except Stopped:
            return
        if open_ones:
            raise Broken(f"a second repair begins while {open_ones[0].node} is in repair")
        self._record = begin(record, world)
        if self._record.has_ended:
            raise Broken(f"the {action} of {key[-2:]} is taken for one that has ended")
        self.story.append(f"{action} of {key[-2:]} begins")

    def _go_on(self) -> None:
        if self._record is None:
            return
        self.cluster.sleep(5)
        world = self._world()
        try:
            result = perform(self._record, world)
        except (Stopped, Unreachable) as stopped:
            self.story.append(f"the repair stops: {str(stopped)[:60]}")
            return
        if isinstance(result, Record):
            keep_record(result, world)
            if result.step is not self._record.step:
                self.story.append(f"the repair has done {self._record.step.value}")
            self._record = None if result.has_ended else result

    def _cancel(self) -> None:
        if self._record is not None and self.random.random() < 0.3:
            self.story.append("a person cancels the repair")
            cancel(self._record, self._world())
            self._record = None

    # NVSentinel

    def _monitors(self) -> None:
        for key, node in self.cluster.all().items():
            monitors = MONITORS.get(labels(node).get("physical-ai/gpu-driver", ""), ())
            failing = failures(key, node_faults(node), monitors, 1)
            self._store.queue += changes(self._failing.get(key, []), failing)
            self._failing[key] = failing

    # Invariants

    def _moved(self, actor: str, before: Mapping[str, bool]) -> None:
        """Checks the changes that one write has made to the nodes' cordons."""
        for key, item in self.cluster.all().items():
            was, now = before.get(key, False), is_cordoned(item)
            if now and not was:
                self._taken_out(actor, key, item)
            elif was and not now:
                self._returned(actor, key, item)

    def _taken_out(self, actor: str, key: str, item: Json) -> None:
        self.story.append(f"{actor} cordons {key[-2:]}")
        self._owed.add(key)
        if actor == "repair":
            return
        if at(item, "metadata.labels.agentpool") != POOL:
            raise Broken(f"{actor} has taken {key} out of service, which is of no pool with whole GPUs")
        if self._record is not None and key != self._record.node:
            raise Broken(f"{actor} has taken a second node out of service while {self._record.node[-2:]} is in repair")

    def _returned(self, actor: str, key: str, item: Json) -> None:
        self.story.append(f"{actor} uncordons {key[-2:]}")
        is_accepted = self.cluster.verdicts.get((uid(item), boot_id(item)), False)
        # A repair that a person cancels before it touches the machine has repaired nothing.
        repair = self._record if actor == "repair" else None
        untouched = repair is not None and not repair.nodes_before and boot_id(item) == repair.boot_id
        if key in self._owed and not is_accepted and not (untouched and tracked(item) is None):
            raise Broken(f"{actor} has returned {key[-2:]} to service without acceptance")
        self._owed.discard(key)

    def _ended(self, verb: str, pod: Json) -> None:
        if GANG in labels(pod):
            raise Broken(f"NVSentinel ends {name(pod)} of a running gang ({verb})")
        if not self.policy.drains:
            raise Broken(f"NVSentinel ends the Pod {name(pod)} in a mode below drain ({verb})")
        if name(pod) in self.cluster.blocked:
            raise Broken(f"NVSentinel ends {name(pod)}, which a disruption budget protects ({verb})")

    def _check_budget(self) -> None:
        nodes = self.cluster.nodes
        quarantined = {key for key, item in nodes.items() if is_cordoned(item) and tracked(item) is not None}
        repaired = {key for key, item in nodes.items() if held_by(item)}
        out = len((quarantined | repaired) - self._by_hand)
        size = len(nodes)
        if self._record is not None and self._record.node not in nodes and not repaired:
            out, size = out + 1, size + 1
        if out > budget(size):
            raise Broken(f"{out} of {size} nodes are out of service, and {budget(size)} may be")

    def _has_gang(self, node: str) -> bool:
        return any(pod["spec"]["nodeName"] == node and GANG in labels(pod) for pod in self.cluster.pods.values())


def _short(node: Mapping[str, Any]) -> str:
    return name(node)[-2:] if name(node).startswith(SCALE_SET) else name(node).split("-")[1]
