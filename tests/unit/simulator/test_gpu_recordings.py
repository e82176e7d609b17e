"""The operator's model against what the real one was seen to do: every recorded scenario, phase and fact."""

from __future__ import annotations

import fnmatch
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import pytest
import yaml

from simulator.cluster.objects import labels
from simulator.gpu.names import UPGRADE_STATE
from simulator.gpu.state import State
from tests.support.gpu_cluster import Cluster
from tests.support.gpu_facts import facts
from tests.support.gpu_recordings import FOLDER, Expansion, Facts, apply_difference, recording, scenarios, versions
from tests.support.gpu_replay import actions, chosen_image, cluster, replay_to, starts_running
from tests.support.gpu_rows import Timeline

SCENARIOS = [(version, scenario) for version in versions() for scenario in scenarios(version)]
PARTIAL = ("nodeSelector", "tolerations", "init_order", "container_order", "images")
"""What the recordings hold of operands that are only sketched."""
IMAGE = "DaemonSet/nvidia-driver-daemonset/containers/nvidia-driver-ctr/image"
DIGEST = "/env/DRIVER_CONFIG_DIGEST"
HANDLED = {"scenario", "operator", "inputs", "observed"} | {
    "action",
    "action_result",
    "timeline",
    "observed_after",
    "driver_daemonsets",
    "per_restart",
    "clusterpolicy_spec_changes",
}


@cache
def left_out() -> dict[str, Any]:
    return yaml.safe_load((FOLDER / "left-out.yaml").read_text())


def left_out_by(kind: str, name: str) -> str | None:
    """The pattern that leaves something out on purpose."""
    return next((each["of"] for each in left_out()[kind] if fnmatch.fnmatch(name, each["of"])), None)


@dataclass
class Result:
    """How one scenario went."""

    compared: int = 0
    wrong: list[str] = field(default_factory=list[str])
    used: Counter[str] = field(default_factory=Counter[str])
    """Facts left out, by the pattern that does."""
    rows: Counter[str] = field(default_factory=Counter[str])
    """Timeline rows by what became of them."""


def in_flight(given: Mapping[str, Any]) -> list[str]:
    """Upgrade states under way, whichever node they are on."""
    return sorted(v for path, v in given.items() if path.endswith(UPGRADE_STATE) and v != "upgrade-done")


def upgrade_apart(given: Facts) -> Facts:
    """The facts with all nodes' upgrades in one: which node goes first is random.

    `upgrade-done` appears with the first pass that finds the driver's pods in place, early or late: it is none.
    """
    nodes = {path.split("/")[1] for path, v in given.items() if path.endswith(UPGRADE_STATE) and v != "upgrade-done"}
    cordoned = sorted(f"Node/{node}/unschedulable" for node in nodes if f"Node/{node}/unschedulable" in given)
    rest = {path: v for path, v in given.items() if not path.endswith(UPGRADE_STATE) and path not in cordoned}
    return {**rest, "Upgrade/states": in_flight(given), "Upgrade/cordoned": len(cordoned)}


def moment(made: Cluster, wanted: Facts) -> State:
    """The state to compare: the last, or the last at the point of an upgrade where the recording ends."""
    under_way = in_flight(wanted)
    if not under_way:
        return made.state
    for state in reversed(made.states):
        found = [labels(node).get(UPGRADE_STATE, "") for node in state.nodes.values()]
        if sorted(value for value in found if value not in ("", "upgrade-done")) == under_way:
            return state
    return made.state


def relevant(path: str, expansion: Expansion) -> bool:
    """Whether the recording says anything about this fact, if only that it is not so."""
    for prefix in expansion.partial:
        if path.startswith(f"{prefix}/"):
            return path.removeprefix(f"{prefix}/").split("/")[0] in PARTIAL
    return not (path.startswith("DaemonSet/") and path.split("/")[2] == "images")


def compare(result: Result, where: str, wanted: Facts, found: Facts, expansion: Expansion) -> None:
    for path in sorted(wanted.keys() | found.keys()):
        if not relevant(path, expansion):
            continue
        if wanted.get(path) == found.get(path):
            result.compared += 1
            continue
        name = f"{where}/{path}"
        pattern = left_out_by("facts", name)
        if pattern is None:
            result.wrong.append(f"{name}: recorded {wanted.get(path)!r}, modelled {found.get(path)!r}")
        else:
            result.used[pattern] += 1


def compare_digests(result: Result, where: str, seen: list[tuple[str, str]]) -> None:
    """Equal digests in the recording are equal in the model, different ones differ."""
    result.compared += len(seen)
    if len(set(seen)) != len({recorded for recorded, _ in seen}) or len(set(seen)) != len({own for _, own in seen}):
        result.wrong.append(f"{where}: digests do not change together: {seen}")


def compare_driver(result: Result, where: str, phase: Mapping[str, Any], made: Cluster) -> None:
    """The ClusterPolicy's driver after a phase; after a restart, any image for a system that is there will do."""
    for name, (image, selector, _) in phase.get("driver_daemonsets", {}).items():
        found = made.state.daemonsets.get(name)
        if found is None:
            continue
        result.compared += 2
        pod = found["spec"]["template"]["spec"]
        if (pod["containers"][0]["image"], pod["nodeSelector"]) != (image, selector):
            result.wrong.append(f"{where}: {name} is {pod['containers'][0]['image']} on {pod['nodeSelector']}")
    systems = {re.sub(r".*-", "", chosen_image(made)), "ubuntu22.04", "ubuntu24.04"}
    for restart in phase.get("per_restart", ()):
        for image, _, _ in restart.values():
            result.compared += 1
            if re.sub(r".*-", "", image) not in systems:
                result.wrong.append(f"{where}: {image} is for no node's system")


@cache
def run(version: str, scenario: str) -> Result:
    """Plays a scenario and compares all of it."""
    result, made, rows_wrong = Result(), cluster(version, scenario), list[str]()
    expansion, digests = Expansion(version, scenario), []
    for index, (phase, wanted) in enumerate(expansion.phases()):
        where = f"{version}/{scenario}/{index}"
        if index == 0 and starts_running(phase):
            made.restart()
        made = replay_to(made, phase, version, wanted.get(IMAGE, ""))
        state = moment(made, wanted)
        found = facts(state, made.scheduled())
        digests += [(v, found[path]) for path, v in wanted.items() if path.endswith(DIGEST) and path in found]
        compare(result, where, upgrade_apart(wanted), upgrade_apart(found), expansion)
        compare_driver(result, where, phase, made)
        timeline = Timeline(where, phase, made, version)
        timeline.compare()
        result.rows += timeline.counts
        rows_wrong += timeline.wrong
    compare_digests(result, f"{version}/{scenario}", digests)
    for text in rows_wrong:
        pattern = left_out_by("order", text.partition(":")[0])
        if pattern is None:
            result.wrong.append(text)
        else:
            result.used[pattern] += 1
    return result


@pytest.mark.parametrize(
    ("version", "scenario"),
    [pytest.param(*each, marks=() if each[0] == versions()[-1] else pytest.mark.deep) for each in SCENARIOS],
    ids=lambda value: value,
)
def test_scenario(version: str, scenario: str) -> None:
    result = run(version, scenario)
    assert result.wrong == []
    assert result.compared > 500
    assert result.rows["compared"] > 0


@pytest.mark.deep  # in `make test`: the newest release's scenarios above
def test_what_is_left_out_is_needed() -> None:
    used: Counter[str] = Counter()
    for version, scenario in SCENARIOS:
        used += run(version, scenario).used
    listed = [*left_out()["facts"], *left_out()["order"]]
    assert {each["of"] for each in listed} == set(used)
    assert all(each["reason"] for each in listed)


def parts(version: str, scenario: str) -> Iterator[str]:
    given = recording(version, scenario)
    yield from given
    for phase in given["observed"]:
        yield from phase
        result = phase.get("action_result", {})
        for each in result if isinstance(result, list) else [result]:
            yield from each


@pytest.mark.deep  # in `make test`: the newest release's scenarios above
def test_every_part_of_a_recording_is_compared_or_listed() -> None:
    found = {part for version, scenario in SCENARIOS for part in parts(version, scenario)}
    assert found - HANDLED == set(left_out()["parts"])
    rows: Counter[str] = Counter()
    for version, scenario in SCENARIOS:
        rows += run(version, scenario).rows
    assert set(rows) - {"compared", "own"} == set(left_out()["rows"])


def test_every_action_is_known() -> None:
    recorded = {p["action"] for version, scenario in SCENARIOS for p in recording(version, scenario)["observed"]}
    assert recorded == set(actions())


def test_the_recordings_of_every_release_are_there() -> None:
    assert versions() == ["v25.3.4", "v26.3.3", "v26.7.0"]
    assert len(SCENARIOS) == 33


def test_a_container_that_was_removed_is_gone_from_the_recorded_facts() -> None:
    facts: dict[str, Any] = {"D/init/a/image": "i", "D/init/b/image": "i"}
    apply_difference(facts, "D", {"-init.a": "i", "~init.b.env.X": ["1", "2"]})
    assert facts == {"D/init/b/image": "i", "D/init/b/env/X": "2"}


def test_a_changed_model_is_noticed() -> None:
    """The comparison itself: one label too many, one missing, one different."""
    expansion = Expansion("v26.7.0", "a-baseline")
    _, wanted = next(expansion.phases())
    found = dict(wanted)
    found["Node/h100-0/label/nvidia.com/extra"] = "true"
    del found["Node/rtx-0/label/nvidia.com/gpu.present"]
    found["DaemonSet/nvidia-dcgm-exporter/priorityClassName"] = "low"
    result = Result()
    compare(result, "v26.7.0/a-baseline/0", wanted, found, expansion)
    assert len(result.wrong) == 3
