"""Recordings of every kind of stack: commands answer as on the cluster, also with faults, and a recording of the
recording or of its replay has the same objects.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from parts.slurm.names import TAINT
from physical_ai.readiness import Unreachable
from physical_ai.readiness.answers import FORBIDDEN, Get
from physical_ai.settings import Overlay, load
from physical_ai.settings.facts.pools import pool_selector
from physical_ai.settings.models.node_pools import Pool
from simulator.errors import SimulationError
from simulator.home import Home
from simulator.kubernetes.client import Client
from simulator.replay_objects import NOT_LOADED, OWN_OBJECTS, OWN_REPORTERS, SERVER_CHOOSES
from simulator.simulation import Simulation
from tests.simulator.homes import wipe
from tests.simulator.killed_install import administrator
from tests.simulator.physai import FIXED, physai
from tests.simulator.test_recordings import NODE, different, stable
from tests.support.amd_settings import OPERATOR, POOL
from tests.support.amd_settings import STACK as WITH_AMD
from tests.support.stacks import STACKS
from workbench.cli import cluster_gates
from workbench.recordings.addresses import Addresses
from workbench.recordings.asking import Bounded, cluster_entries
from workbench.recordings.cluster import NO_SECRETS, reader
from workbench.recordings.form import Entry
from workbench.recordings.making import made
from workbench.recordings.questions import Limits
from workbench.recordings.reading import Recording, read

pytestmark = pytest.mark.deep
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIabcdef0123 ada@laptop"
SLURM = (
    f"slurm={{pools: [h100gpu], login: {{sshKeys: ['{KEY}']}}}}",
    f"pools.h100gpu.scale={FIXED % 1}",
    f"pools.h100gpu.taints=['{TAINT}']",
)
AMD = (
    f"pools.mi300x={json.dumps(POOL)}",
    OPERATOR,
)
CASES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    **{stack: (stack, ()) for stack in STACKS},
    "slurm": ("dev-westus2", SLURM),
    "amd": (WITH_AMD, AMD),
}
WITH_METRICS = "quickstart-westus2"
FAULTS = ("plugin-stuck", "node-notready")
ATTEMPTS = 5


def asks_too_much(pools: Mapping[str, Pool]) -> dict[str, Any]:
    """A Pod that no node has enough GPUs for. It selects a pool, as the admission policy of production wants."""
    name, pool = list(pools.items())[1]
    container = {"name": "c", "image": "x", "resources": {"limits": {"nvidia.com/gpu": "99"}}}
    spec = {"containers": [container], "nodeSelector": pool_selector(name, pool)}
    return {"metadata": {"name": "asks-too-much", "namespace": "default"}, "spec": spec}


@pytest.fixture
def no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    """A login that may not read Secrets: a recording has none."""
    own = cluster_gates.readiness_client

    def client(given: Client) -> Get:
        get = own(given)

        def asked(path: str, parameters: Mapping[str, str]) -> Any:
            if path.endswith("/secrets"):
                raise Unreachable(NO_SECRETS, FORBIDDEN)
            return get(path, parameters)

        return asked

    monkeypatch.setattr(cluster_gates, "readiness_client", client)


def renamed(text: str, names: Sequence[str]) -> str:
    """A text with the names of nodes as a recording has them: those of AKS lose a number, others get one."""
    for number, each in enumerate(sorted(each for each in names if not NODE.fullmatch(each)), start=1):
        text = re.sub(rf"(?<![\w-]){re.escape(each)}(?![\w-])", f"host-{number:04}", text)
    return NODE.sub(r"\1-node-\2", text)


def answer(names: Sequence[str], *command: str) -> tuple[int, Any]:
    """Exit code and document of a command, without what names its source."""
    found = physai(*command, "--json", expect=(0, 1, 3))
    assert "do not load here" not in found.err
    document = json.loads(renamed(found.out, names) or "{}")
    document.pop("cluster", None)
    document["unread"] = [each for each in document.get("unread", ()) if not each.startswith("alerts and Xids")]
    for each in document.get("alerts", ()):
        each |= {"fault": None, "modelSecondsAfterFault": None}  # which fault was injected is no part of a cluster
    rows = document.get("usage", ())  # amounts grow while both are asked
    document |= {
        "usage": [{key: value for key, value in each.items() if not isinstance(value, float)} for each in rows]
    }
    return found.code, document


def differences(
    simulation: Simulation, file: Path, settings: Sequence[str], commands: Sequence[Sequence[str]]
) -> list[str]:
    """Commands whose answers on a new recording are others than on the cluster, with both."""
    given = (simulation.stack, *settings)
    names = [each["metadata"]["name"] for each in administrator(simulation).get("/api/v1/nodes")["items"]]
    found: list[str] = []
    for _ in range(ATTEMPTS):  # something may still change between a recording and a command
        physai("record", *given, "--logs", "-o", str(file))
        pairs = {
            " ".join(each): (answer(names, *each, *given), answer((), *each, "--from", str(file))) for each in commands
        }
        found = [f"{command}: {live} | {recorded}" for command, (live, recorded) in pairs.items() if live != recorded]
        if not found:
            break
    return found


def again(recording: Recording) -> list[Entry]:
    """The entries of a recording that is made of this one."""
    with_logs = any(True for _ in recording.of("log"))
    bounded = Bounded(reader(recording), Limits(logs=True))
    own = [each for each in cluster_entries(bounded, lambda said: None) if with_logs or each["kind"] != "log"]
    kinds = {each["kind"] for each in own}
    others = [each for each in recording.entries if each["kind"] not in {*kinds, "summary", "refused"} - {"unread"}]
    return made([*others, *own])


def objects(recording: Recording) -> dict[str, str]:
    """Objects by path and name, without those and the values that a replay has of its own.

    The network parts of private addresses are those that only these objects give them.
    """
    found: dict[str, str] = {}
    for path, items in recording.lists.items():
        resource = path.rpartition("/")[2]
        paths = SERVER_CHOOSES.get(resource, ())
        chosen = {each.removesuffix("[]").partition(".")[2] for each in paths if each.startswith("spec.")}
        for each in () if resource in NOT_LOADED else items:
            own = f"{resource} {each['metadata'].get('namespace', '')}/{each['metadata']['name']}"
            is_of_server = own in OWN_OBJECTS or each.get("reportingComponent") in OWN_REPORTERS
            if not is_of_server and not each["metadata"]["name"].startswith("system:"):
                spec = {key: value for key, value in (each.get("spec") or {}).items() if key not in chosen}
                item = {key: value for key, value in each.items() if key not in paths} | (
                    {"spec": spec} if chosen else {}
                )
                found[f"{path} {own}"] = json.dumps(stable(item), sort_keys=True)
    addresses = Addresses.of(found.values())
    return {key: addresses.text(text) for key, text in found.items()}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.usefixtures("no_secrets")
def test_a_stack_is_recorded_and_replayed(case: str, home: Home, tmp_path: Path) -> None:
    stack, assignments = CASES[case]
    metrics = stack == WITH_METRICS
    settings = [word for each in assignments for word in ("--set", each)]
    physai("up", stack, *settings, *(("--telemetry",) if metrics else ()))
    simulation, file = Simulation(stack, home), tmp_path / "a.gz"
    pools = load(stack, [Overlay.assign(assignments)]).settings.pools
    administrator(simulation).request("POST", "/api/v1/namespaces/default/pods", asks_too_much(pools))
    commands = [("doctor",), ("gates",), *(("why", each) for each in (*pools, "asks-too-much"))]
    if metrics:
        commands += [("alerts",), ("usage",)]
    assert differences(simulation, file, settings, commands) == []
    for fault in FAULTS:
        try:
            physai("fault", "inject", fault, "--stack", stack)
        except (AssertionError, SimulationError):
            continue  # no node of the stack can have it
        assert differences(simulation, file, settings, commands) == [], fault
    recording = read(file)
    assert KEY.split()[1] not in json.dumps(recording.entries)
    wipe(home)  # a replay needs no second control plane beside it, and `down` would take a minute

    once, twice = recording.entries, again(recording)
    assert twice[1]["replaced"] == {}
    assert [each["kind"] for each in twice] == [each["kind"] for each in once]
    changed = [one for one, other in zip(once, twice, strict=True) if one != other and one["kind"] != "summary"]
    assert [json.dumps(each)[:300] for each in changed] == []

    replayed = physai("up", "--from", str(file), "--json").json
    try:
        assert replayed["refused"] == []
        access = ("--kubeconfig", replayed["kubeconfig"], "--context", "simulator")
        physai("record", stack, *access, "-o", str(tmp_path / "b.gz"))
    finally:
        physai("down", "--from", str(file))
    assert different(objects(recording), objects(read(tmp_path / "b.gz"))) == []
