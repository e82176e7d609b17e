"""Table for the docs of what happens in each health mode when a fault is injected.

Each row is played through: a gang runs on the node, the fault begins, and NVSentinel's modules act until nothing
changes.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from parts.nvsentinel.limits import health_limits
from parts.nvsentinel.names import FAULT_QUARANTINE, NODE_DRAINER
from physical_ai.kubernetes.objects import labels
from physical_ai.settings import Overlay, load
from physical_ai.settings.models.health import HealthMode
from simulator.faults.catalogue import Fault, faults
from simulator.faults.record import ANNOTATION, Injected, annotation, node_faults
from simulator.nvsentinel.events import HealthEvent, failures
from simulator.nvsentinel.modules import FaultQuarantine, NodeDrainer, Store
from simulator.nvsentinel.quarantine import STATE_LABEL
from tests.support.admission import Admission
from tests.support.health_cluster import GANG, OTHERS, Cluster, Policy, Sentinel
from tests.support.health_world import MONITORS
from workbench.health.replacement.cluster import is_cordoned

PAGE = Path(__file__).parents[2] / "docs" / "health-modes.md"
BEGIN, END = "<!-- table of faults: begin -->", "<!-- table of faults: end -->"
HEAD = (
    "| fault | alert | detect | taint | drain | the running gang |",
    "|---|---|---|---|---|---|",
)
Json = dict[str, Any]


def policy(mode: HealthMode) -> Policy:
    """Health settings of a stack in a mode: NVSentinel's configuration and the admission policies."""
    return policy_of(*parts(mode))


def parts(mode: HealthMode) -> tuple[Json, list[Json]]:
    """Values of NVSentinel's chart and the admission policies of a stack in a mode."""
    store = ["health.datastoreSecret=store"] if mode in ("taint", "drain") else []
    loaded = load("dev-westus2", [Overlay.assign(["monitoring.metrics=azure", f"health.mode={mode}", *store])])
    values = loaded.plan.parts["nvsentinel"].release("release").values
    return copy.deepcopy(dict(values)), health_limits(loaded.settings)


def policy_of(values: Json, limits: list[Json]) -> Policy:
    switches = {FAULT_QUARANTINE: "faultQuarantine", NODE_DRAINER: "nodeDrainer"}
    files = {name: values[name] for name, switch in switches.items() if values["global"][switch]["enabled"]}
    return Policy(files, Admission(limits))


def table() -> str:
    modes: tuple[HealthMode, ...] = ("detect", "taint", "drain")
    policies: dict[HealthMode, Policy] = {mode: policy(mode) for mode in modes}
    return "\n".join([*HEAD, *(_row(fault, policies) for fault in faults().values())])


def written() -> str:
    """Table that the page has now."""
    return PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0].strip()


def write() -> None:
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n{table()}\n{END}{rest.partition(END)[2]}", encoding="utf-8")


def _row(fault: Fault, policies: dict[HealthMode, Policy]) -> str:
    alerts = ", ".join(fault.alerts) or "none"
    detected = "; ".join(dict.fromkeys(_detected(fault))) or "nothing"
    ends = [_played(fault, policies[mode]) for mode in ("taint", "drain")]
    gang = "keeps its Pods" if all(kept for _, kept in ends) else "loses Pods"
    return f"| `{fault.name}` | {alerts} | {detected} | {ends[0][0]} | {ends[1][0]} | {gang} |"


def _detected(fault: Fault) -> Iterator[str]:
    for event in _events("node", fault):
        yield f"condition {event.check}" if event.is_fatal else f"event {event.check}"


def _events(node: str, fault: Fault) -> list[HealthEvent]:
    """Health events of a fault on a node with whole GPUs, or on a vGPU node if only such a node can have the fault."""
    driver = "operator" if not fault.drivers or "operator" in fault.drivers else "grid"
    faulty = {"metadata": {"annotations": {ANNOTATION: annotation([Injected(fault.name, 0, 0)])}}}
    return failures(node, node_faults(faulty), MONITORS[driver], 1)


def _played(fault: Fault, played: Policy) -> tuple[str, bool]:
    """State of the node at the end, in the table's words; and True if its gang keeps all of its Pods."""
    cluster, ended = Cluster(size=4, autoscaled=False, least=4), list[str]()
    sentinel, store = Sentinel(cluster, played, lambda verb, pod: ended.append(verb)), Store()
    node = next(iter(cluster.nodes))
    if fault.drivers and "operator" not in fault.drivers:
        node = next(key for key, (_, driver) in OTHERS.items() if driver == "grid")
    for index, each in enumerate(dict.fromkeys([node, *cluster.nodes])):
        cluster.add_pod(each, f"gang-{index}", labels={GANG: "gang"})
    store.queue += _events(node, fault)
    quarantine, drainer = FaultQuarantine(sentinel, store), NodeDrainer(sentinel, store)

    def acted() -> str:
        quarantine.run("fault-quarantine")
        if played.drains:
            drainer.run()
        return labels(cluster.all()[node]).get(STATE_LABEL, "")

    states = [acted()]
    kept = not ended and all(GANG in labels(pod) for pod in cluster.pods.values())
    cluster.pods.clear()
    states.append(acted())
    if not is_cordoned(cluster.all()[node]):
        return "as detect", kept
    if not played.drains:
        return "cordoned", kept
    return f"cordoned, {states[0]}; {states[1]} once the gang has ended", kept
