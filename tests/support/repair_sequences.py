"""Random sequences of faults, of repair commands that die at any request, and of manual changes, and the invariants.

The commands run the code of `physai node replace`. The API server refuses a write to an object that has changed since
it was read.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from physical_ai.readiness.reader import Missing, Unreachable
from physical_ai.settings.facts.health import budget
from tests.support.health_cluster import Broken
from tests.support.repair_world import Fake, Json, Killed
from workbench.health.replacement.cluster import boot_id, held_by, is_cordoned, uid
from workbench.health.replacement.record import Action, Record, read
from workbench.health.replacement.run import begin, cancel, keep_record, new_record, unfinished
from workbench.health.replacement.steps import perform
from workbench.health.replacement.world import Standing, Stopped, World

COMMANDS = 3
"""Number of people (or laptops) that each run one command at a time."""
PROMETHEUS = ("fine", "away", "behind", "empty")


@dataclass
class Judged(Fake):
    """Cluster that checks the invariants at each request of a repair."""

    ill: set[str] = field(default_factory=set[str])
    """UIDs of nodes whose fault remains, whatever a repair does to them."""
    proven: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    """UID and boot ID of the nodes that have passed acceptance."""
    returned: set[str] = field(default_factory=set[str])
    """Nodes that a person has uncordoned while a repair held them."""
    knows: str = "fine"

    def _answer(self, method: str, path: str, parameters: Mapping[str, str], body: Any) -> Any:
        if path.endswith("/eviction"):
            self._judge_eviction(path)
        before = {key: (is_cordoned(each), held_by(each)) for key, each in self.nodes.items()}
        answer = super()._answer(method, path, parameters, body)
        if method == "PATCH" and "/nodes/" in path:
            self._judge_change(path.rpartition("/")[2], before)
        return answer

    def _judge_eviction(self, path: str) -> None:
        _, _, _, namespace, _, pod, _ = path.strip("/").split("/")
        found = self.pods.get((namespace, pod))
        if found is None:
            return
        node = self.nodes[found["spec"]["nodeName"]]
        if not is_cordoned(node) or not held_by(node) or found["spec"]["nodeName"] in self.returned:
            raise Broken(f"{pod} is evicted from {_short(node)}, which is no repair's")

    def _judge_change(self, key: str, before: Mapping[str, tuple[bool, str]]) -> None:
        node, (was, holder) = self.nodes[key], before[key]
        if is_cordoned(node) and not was:
            if key in self.returned:
                raise Broken(f"{_short(node)} is cordoned again after a person has returned it")
            out = {name for name, each in self.nodes.items() if is_cordoned(each)}
            held = {name for name in out if held_by(self.nodes[name])}
            # A node that takes the place of a deleted one has not worked yet.
            own = any(each.node_uid == uid(node) for each in self.records())
            if len(held) > 1 or (own and len(out) > budget(len(self.nodes))):
                raise Broken(f"{len(out)} of {len(self.nodes)} nodes are out, {len(held)} of them in repair")
        if was and not is_cordoned(node) and holder and key not in self.untouched():
            if (uid(node), boot_id(node)) not in self.proven:
                raise Broken(f"{_short(node)} takes work without acceptance")
            if uid(node) in self.ill and self.knows == "fine":
                raise Broken(f"{_short(node)} takes work with a fault")

    def records(self) -> list[Record]:
        """Records of all repairs, read without a request."""
        return [read(each) for each in self.maps.values() if "labels" in each["metadata"]]

    def untouched(self) -> set[str]:
        """Nodes whose repair was canceled before it did anything to their machines."""
        return {each.node for each in self.records() if each.removed is None}

    def _azure(self, method: str, path: str, body: Any) -> Any:
        key = ""
        if path.endswith("/deleteMachines"):
            key = body["machineNames"][0]
        elif path.endswith("/restart"):
            key = next((name for name in self.nodes if name.endswith(f"{int(path.split('/')[-2]):06d}")), "")
        node = self.nodes.get(key)
        if node is not None:
            if not is_cordoned(node) or not held_by(node) or key in self.returned:
                raise Broken(f"the machine of {_short(node)} is touched, which is no repair's")
            if any(pod["spec"]["nodeName"] == key for pod in self.pods.values()):
                raise Broken(f"the machine of {_short(node)} is touched while work runs there")
        return super()._azure(method, path, body)

    def _accept(self, node: str) -> str:
        item = self.nodes[node]
        if node in self.returned:
            raise Broken(f"{_short(item)} is accepted after a person has returned it")
        super()._accept(node)
        # Acceptance does not see every fault.
        if uid(item) in self.ill and int(uid(item)[3:8]) % 2:
            return "its GPU has a fault"
        self.proven.add((uid(item), boot_id(item)))
        return ""

    def _standing(self, record: Record) -> Standing:
        if self.knows != "fine":
            return Standing(unread=(f"alerts, because the Prometheus is {self.knows}",))
        node = self.nodes.get(record.new_node)
        return Standing(("an alert",) if node is not None and uid(node) in self.ill else ())


class Sequence:
    """Sequence of random events; the same `seed` repeats it."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311 - repeatable, not secret
        size = self.random.choice([1, 2, 3, 4, 5, 8, 9])
        autoscaled = self.random.random() < 0.5
        by_hand = self.random.random() < 0.15
        self.cluster = Judged(size=size, autoscaled=autoscaled, least=size, by_hand=by_hand)
        self.story = [
            f"{size} nodes{', autoscaled' if autoscaled else ''}{', no machines of Azure' if by_hand else ''}"
        ]
        self._asked: list[Record | None] = [None] * COMMANDS
        """Record for which each command waits for an answer to its prompt; None if it does not wait."""
        self._records: list[Record | None] = [None] * COMMANDS
        """Record of the repair that each command works on; None if it has none."""
        self._worlds: list[World] = [self.cluster.world(reports=False) for _ in range(COMMANDS)]
        self._pods = 0

    def run(self, steps: int) -> int:
        """Plays random steps, and returns the number of repairs after which a node takes work again.

        Raises:
            Broken: an invariant does not hold. The text tells all events up to there.
        """
        events: list[tuple[Callable[[], None], int]] = [
            (self._prompt, 8),
            (self._confirm, 10),
            (self._go_on, 45),
            (self._resume, 4),
            (self._cancel, 1),
            (self._fault, 1),
            (self._heal, 2),
            (self._pod, 3),
            (self._pods_end, 4),
            (self._uncordon, 1),
            (self._cordon, 1),
            (self._touch, 1),
            (self._delete_record, 1),
            (self._spot, 1),
            (self._prometheus, 1),
            (self._time, 2),
        ]
        choices, weights = [each for each, _ in events], [weight for _, weight in events]
        try:
            for _ in range(steps):
                self.random.choices(choices, weights)[0]()
                open_ones = {each.name for each in self.cluster.records() if not each.has_ended}
                self.cluster.returned = {
                    key for key in self.cluster.returned & self.cluster.nodes.keys() if self._holder(key) in open_ones
                }
        except Broken as broken:
            raise Broken(f"{broken}\n  " + "\n  ".join(self.story)) from None
        return sum("takes work" in each.outcome for each in self.cluster.records())

    def _holder(self, key: str) -> str:
        return held_by(self.cluster.nodes[key])

    def _node(self) -> str | None:
        return self.random.choice(sorted(self.cluster.nodes)) if self.cluster.nodes else None

    # Commands

    def _as_command(self, index: int, act: Callable[[World], Record | str | None]) -> Record | str | None:
        """Acts as the process of a command, which may die at any of its requests."""
        if self.random.random() < 0.06:
            effect = self.random.choice(["kill_before", "kill_after"])
            setattr(self.cluster, effect, self.cluster.calls + self.random.randint(1, 8))
        try:
            return act(self._worlds[index])
        except (Stopped, Unreachable, Missing) as stopped:
            self._end(index, f"stops: {str(stopped)[:70]}")
        except Killed:
            self._end(index, "dies")
        finally:
            self.cluster.kill_before = self.cluster.kill_after = -1
        return None

    def _end(self, index: int, why: str) -> None:
        self.story.append(f"command {index} {why}")
        self._records[index] = self._asked[index] = None
        self._worlds[index] = self.cluster.world(reports=False)

    def _prompt(self) -> None:
        index, key = self.random.randrange(COMMANDS), self._node()
        if key is None or self._records[index] is not None:
            return
        action: Action = self.random.choice(["replace", "reboot"])
        node = self.cluster.nodes[key]

        def asks(world: World) -> Record | None:
            if unfinished(world.cluster, key) is not None:
                return None
            return new_record(node, action, "test", world, timedelta(hours=2))

        found = self._as_command(index, asks)
        if isinstance(found, Record):
            self._asked[index] = found
            self.story.append(f"command {index} asks to {action} {_short(node)}")

    def _confirm(self) -> None:
        index = self.random.randrange(COMMANDS)
        asked = self._asked[index]
        if asked is None:
            return
        self._asked[index] = None
        found = self._as_command(index, lambda world: begin(asked, world))
        if isinstance(found, Record):
            self._records[index] = found
            self.story.append(f"command {index} is confirmed for {found.node[-2:]}")

    def _go_on(self) -> None:
        index = self.random.randrange(COMMANDS)
        record = self._records[index]
        if record is None:
            return
        self.cluster.sleep(5)

        def goes(world: World) -> Record | str:
            result = perform(record, world)
            if isinstance(result, Record):
                keep_record(result, world)
            return result

        result = self._as_command(index, goes)
        if isinstance(result, Record):
            self._records[index] = None if result.has_ended else result
            self.story.append(f"command {index} is at {result.step}: {result.outcome}")

    def _resume(self) -> None:
        """Runs a command again for a repair that has not ended, possibly while the first one still runs."""
        index, open_ones = self.random.randrange(COMMANDS), self._open()
        if self._records[index] is None and open_ones:
            self._worlds[index] = self.cluster.world(reports=False)
            self._records[index] = self.random.choice(open_ones)
            self.story.append(f"command {index} resumes {self._records[index].node[-2:]}")  # type: ignore[union-attr]

    def _open(self) -> list[Record]:
        return [each for each in self.cluster.records() if not each.has_ended]

    def _cancel(self) -> None:
        open_ones = self._open()
        if open_ones:
            chosen = self.random.choice(open_ones)
            self._as_command(self.random.randrange(COMMANDS), lambda world: cancel(chosen, world))
            self.story.append(f"the repair of {chosen.node[-2:]} is canceled")

    # Faults, and manual changes

    def _fault(self) -> None:
        if key := self._node():
            self.cluster.ill.add(uid(self.cluster.nodes[key]))
            self.story.append(f"a fault on {key[-2:]}")

    def _heal(self) -> None:
        if self.cluster.ill:
            self.cluster.ill.discard(self.random.choice(sorted(self.cluster.ill)))

    def _pod(self) -> None:
        """Starts a Pod on a node that is not cordoned."""
        free = [key for key, each in sorted(self.cluster.nodes.items()) if not is_cordoned(each)]
        if free:
            self._pods += 1
            owner = self.random.choice(["ReplicaSet", "StatefulSet", "Job", ""])
            name = "db-0" if owner == "StatefulSet" else f"pod-{self._pods}"
            if ("default", name) not in self.cluster.pods:
                self.cluster.add_pod(self.random.choice(free), name, owner)

    def _pods_end(self) -> None:
        if self.cluster.pods:
            del self.cluster.pods[self.random.choice(sorted(self.cluster.pods))]

    def _uncordon(self) -> None:
        out = [key for key, each in sorted(self.cluster.nodes.items()) if is_cordoned(each)]
        if out:
            key = self.random.choice(out)
            del self.cluster.nodes[key]["spec"]["unschedulable"]
            self.cluster.touch(key)
            if held_by(self.cluster.nodes[key]):
                self.cluster.returned.add(key)
            self.story.append(f"a person uncordons {key[-2:]}")

    def _cordon(self) -> None:
        free = [key for key, each in sorted(self.cluster.nodes.items()) if not is_cordoned(each) and not held_by(each)]
        if free:
            key = self.random.choice(free)
            self.cluster.nodes[key]["spec"]["unschedulable"] = True
            self.cluster.touch(key)
            self.story.append(f"a person cordons {key[-2:]}")

    def _touch(self) -> None:
        if key := self._node():
            self.cluster.nodes[key]["metadata"]["labels"]["touched"] = str(self.random.random())
            self.cluster.touch(key)

    def _delete_record(self) -> None:
        open_ones = self._open()
        if open_ones and self.random.random() < 0.2:
            chosen = self.random.choice(open_ones)
            del self.cluster.maps[chosen.name]
            for each in self.cluster.nodes.values():  # whoever deletes a record releases its node
                if held_by(each) == chosen.name:
                    del each["metadata"]["annotations"]["physical-ai/repair"]
                    each["spec"].pop("unschedulable", None)
            self.story.append(f"the record of {chosen.node[-2:]} is deleted")

    def _spot(self) -> None:
        key = self._node()
        if key and len(self.cluster.nodes) > 1 and self.random.random() < 0.3:
            self.cluster.remove(key)
            self.cluster.count -= 1
            self.story.append(f"Azure evicts {key[-2:]}")

    def _prometheus(self) -> None:
        self.cluster.knows = self.random.choice(PROMETHEUS)
        self.story.append(f"Prometheus is {self.cluster.knows}")

    def _time(self) -> None:
        passed = self.random.choice([5, 120, 1200, 7200])
        self.cluster.clock += timedelta(seconds=passed)
        if self.cluster.by_hand and self.random.random() < 0.5 and (key := self._node()):
            self._restart_by_hand(key)

    def _restart_by_hand(self, key: str) -> None:
        if not any(pod["spec"]["nodeName"] == key for pod in self.cluster.pods.values()):
            self.cluster._restart(key)  # pyright: ignore[reportPrivateUsage]
            self.story.append(f"a person restarts {key[-2:]}")


def _short(node: Json) -> str:
    return str(node["metadata"]["name"])[-2:]
