"""Each fault is followed as somebody on call would: `physai doctor`, and then what is printed, until nothing is wrong.

The Prometheus of these tests fires at once the alerts that a fault is said to cause; that a real one does is in
`test_telemetry.py`.
"""

from __future__ import annotations

import shlex
import subprocess
import time
from collections.abc import Mapping
from typing import Any

import pytest

from physical_ai.telemetry.usage import Sample
from simulator.cluster.objects import is_ready, labels, name
from simulator.faults import Fault, faults, injected
from simulator.kubernetes import Client
from simulator.simulation import Simulation
from tests.simulator.physai import anyhow, physai
from tests.support.on_call import Watch, placeholders
from tests.support.waiting import until
from workbench.cli import prometheus

STACK = "dev-westus2"
NOTHING = ("xid-63", "power", "ecc-sbe")
"""Faults of which the advice is to do nothing."""
OF_OTHERS = ("xid-13", "xid-31", "spot-eviction")
"""Those that the owner of a job mends, and Azure ends."""
STEPS = 10
IN_CLUSTER = 12.0
"""Seconds until the models have shown what a fault or a remedy does; a busy machine gets more looks."""


class Alerts:
    """Answers for a Prometheus: the alerts of the faults that nodes have, and the Xids that they had."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._xids: dict[tuple[str, int, int], Sample] = {}

    def ask(self, address: str, queries: Mapping[str, str], **_: Any) -> dict[str, list[Sample]]:
        del address
        alerts: list[Sample] = []
        nodes = self._client.get("/api/v1/nodes")["items"]
        for node in nodes:
            for each in injected(node):
                if each.over:
                    continue
                row = faults()[each.fault]
                own = {"node": name(node), "gpu": str(each.gpu), "UUID": f"GPU-{each.gpu}"}
                if row.effects.xid:
                    own["xid"] = str(row.effects.xid)
                    self._xids[name(node), each.gpu, row.effects.xid] = Sample(own, 1.0)
                if row.effects.idle_job:
                    own |= {
                        "exported_namespace": "default",
                        "exported_pod": f"idle-job-{name(node).rpartition('-')[2]}",
                    }
                alerts += [Sample({"alertname": alert, **own}, 1.0) for alert in row.alerts]
        seen, now = list(self._xids.values()), time.time()
        answers = {
            "alerts": alerts,
            "pending": [],
            "recent": seen,
            "all": seen,
            "newest": [Sample({}, now)],
            "reported": [Sample({"node": name(each)}, now) for each in nodes],
        }
        return {key: answers[key] for key in queries}


@pytest.fixture
def client(deployed: Simulation, monkeypatch: pytest.MonkeyPatch) -> Client:
    clusters = deployed.clusters()
    found = clusters.client(clusters.ids()[0])
    alerts = Alerts(found)
    monkeypatch.setattr(prometheus, "simulated_address", lambda stack: "http://127.0.0.1:1")
    monkeypatch.setattr(prometheus, "ask", alerts.ask)
    return found


def at_hand(simulation: Simulation) -> Watch:
    environment = simulation.environment()

    def run(command: str) -> str:
        words = shlex.split(command)
        if words[0] == "physai":
            confirmed = [*words[1:], "--yes"] if words[1:3] == ["node", "replace"] else words[1:]
            return anyhow(*confirmed)
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
        return done.stdout + done.stderr

    return Watch(run)


def followed(watch: Watch, client: Client, fault: str) -> list[str]:
    """Types what is printed until no node has the fault; what was typed."""
    for _ in range(STEPS):
        said = watch.type("physai doctor")
        watch.typed.pop()
        end = time.monotonic() + IN_CLUSTER
        while "nothing is wrong" in said and has(client, fault) and time.monotonic() < end:
            time.sleep(1)
            said = watch.type("physai doctor")
            watch.typed.pop()
        if not has(client, fault) or fault in NOTHING + OF_OTHERS:
            return watch.typed
        command = watch.next(said)
        assert command, f"nothing is printed that has not been typed\ntyped: {watch.typed}\n{said}"
        answer = watch.type(command)
        while more := watch.next(answer):
            if not has(client, fault):
                break
            answer = watch.type(more)
        wait(client, fault)
    return watch.typed


def has(client: Client, fault: str) -> bool:
    return any(each.fault == fault for node in client.get("/api/v1/nodes")["items"] for each in injected(node))


def wait(client: Client, fault: str) -> None:
    end = time.monotonic() + IN_CLUSTER / 2
    while has(client, fault) and time.monotonic() < end:
        time.sleep(0.5)


@pytest.mark.deep
@pytest.mark.parametrize("row", [row for row in faults().values() if not row.needs], ids=lambda row: row.name)
def test_a_fault_is_healed_by_what_is_printed(row: Fault, deployed: Simulation, client: Client) -> None:
    watch = at_hand(deployed)
    assert "nothing is wrong" in watch.type("physai doctor")
    watch.typed.pop()
    physai("fault", "inject", row.name)
    typed = followed(watch, client, row.name)
    assert placeholders(typed) == []
    assert has(client, row.name) is (row.name in NOTHING + OF_OTHERS), typed
    if row.name in NOTHING:
        assert "Nothing has to be done" in watch.read[-1] or "nothing is wrong" in watch.read[-1]
        return
    if row.name not in OF_OTHERS:
        until(lambda: works(client), "a node does not work again")
        until(lambda: "nothing is wrong" in watch.type("physai doctor"), "the doctor is not content", every=1)


def works(client: Client) -> bool:
    nodes = [node for node in client.get("/api/v1/nodes")["items"] if "gpu" in labels(node)["agentpool"]]
    offered = [node["status"]["allocatable"].get("nvidia.com/gpu", "0") for node in nodes]
    return (
        all(map(is_ready, nodes)) and set(offered) <= {"1"} and not any(n["spec"].get("unschedulable") for n in nodes)
    )
