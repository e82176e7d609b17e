"""A recording of a running simulated stack: the commands answer on the file as on the cluster."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from simulator.simulation import Simulation
from tests.simulator.physai import physai
from workbench.recordings.form import VOLATILE
from workbench.recordings.reading import Recording, read

STACK = "dev-westus2"
SECRETS = "Helm's records of releases (403 a recording never has Secrets)"
NODE = re.compile(r"(aks-[a-z0-9]+)-[0-9]+-(vmss[0-9a-z]+)")
STAMPS = ("time", "timestamp", "lastprobetime", "renewtime", "since", "startedat", "finishedat", "count")


def stable(value: Any, path: str = "") -> Any:
    """A document without what the API server and clocks write."""
    if isinstance(value, list):
        return [stable(each, f"{path}[]") for each in value]
    if not isinstance(value, dict):
        return value
    return {
        key: stable(each, f"{path}.{key}".lstrip("."))
        for key, each in value.items()
        if f"{path}.{key}".lstrip(".") not in VOLATILE and not key.lower().endswith(STAMPS)
    }


def objects(recording: Recording) -> dict[str, str]:
    """Objects of a recording by path and name, without events, and without what is volatile."""
    return {
        f"{path} {each['metadata'].get('namespace', '')}/{each['metadata']['name']}": json.dumps(stable(each))
        for path, items in recording.lists.items()
        if not path.endswith("/events")
        for each in items
    }


def different(one: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    """Keys and the beginning of the difference: a comparison of all would take minutes to print."""
    found: list[str] = []
    for key in sorted({*one, *other}):
        first, second = one.get(key, ""), other.get(key, "")
        if first != second:
            at = next((at for at, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), 0)
            found.append(f"{key}: {first[max(at - 60, 0) : at + 60]} | {second[max(at - 60, 0) : at + 60]}")
    return found


def documents(*command: str) -> tuple[int, Any]:
    answer = physai(*command, "--json", expect=(0, 1, 3))
    document = json.loads(NODE.sub(r"\1-node-\2", answer.out))  # a recording replaces the names of nodes
    document["unread"] = [
        each for each in document.get("unread", ()) if each != SECRETS and not each.startswith("alerts and Xids")
    ]
    document.pop("cluster", None)
    return answer.code, document


@pytest.fixture
def file(running: Simulation, tmp_path: Path) -> Path:
    physai("record", STACK, "--logs", "-o", str(tmp_path / "a.gz"))
    return tmp_path / "a.gz"


Answer = tuple[int, Any]


def answers(file: Path, *command: str) -> tuple[Answer, Answer]:
    """Exit code and document of a command on the cluster, and on a recording that is made before it.

    Other tests have left a cluster in which something may still change: it is recorded again where both differ.
    """
    live, found = documents(*command, STACK), documents(*command, "--from", str(file))
    for _ in range(3):
        if live[1] == found[1]:
            break
        physai("record", STACK, "-o", str(file))
        live, found = documents(*command, STACK), documents(*command, "--from", str(file))
    return live, found


def test_the_commands_answer_on_the_file_as_on_the_cluster(running: Simulation, file: Path) -> None:
    for command in (("why", "h100gpu"), ("doctor",), ("gates",)):
        (live_code, live), (code, found) = answers(file, *command)
        assert found == live, command
        # A recording has no Secrets, so that Helm's releases are not known.
        assert code == (live_code if command == ("gates",) else live_code or 1), command
    kubeconfig = str(running.environment()["KUBECONFIG"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", running.environment()["PATH"])
        live = physai("reach", STACK, "--kubeconfig", kubeconfig, "--json").json
    found = physai("reach", "--from", str(file), "--json").json
    assert found["kubernetes"] == str(file)
    assert {**found, "kubernetes": kubeconfig} == live


@pytest.mark.deep  # in `make test`: the table of volatile values in tests/unit/recordings
def test_two_recordings_differ_in_what_is_volatile(running: Simulation, file: Path, tmp_path: Path) -> None:
    physai("record", STACK, "--logs", "-o", str(tmp_path / "b.gz"))
    first, second = read(file), read(tmp_path / "b.gz")
    assert different(objects(first), objects(second)) == []
    bodies = [{each["id"]: json.dumps(each["body"]) for each in one.of("azure")} for one in (first, second)]
    assert different(*bodies) == []
    text = json.dumps(first.entries)
    with running.azure() as cloud:
        directory = cloud.directory
    gone = (directory.subscription, directory.tenant, directory.deployer)
    assert [each for each in gone if each in text] == []
    assert "what was seen is what is believed" in physai("compare", str(file)).out
    assert not [path for path in first.lists if path.endswith("/secrets")]
