"""The program that removes what releases leave, against an API server."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from cluster_cleanup import __main__ as program
from cluster_cleanup.cleanup import DEFINITIONS, WEBHOOKS, clean
from cluster_cleanup.model import Found, Wanted
from cluster_cleanup.nodes import NODES
from json_http import Refused

QUEUES, POLICIES, RULES = (
    "queues.scheduling.run.ai",
    "clusterpolicies.nvidia.com",
    "prometheusrules.monitoring.coreos.com",
)
LABELS = {"nvidia.com/gpu.present": "true", "nvidia.com/gpu.deploy.driver": "true", "example.com/rack": "7"}
WANTED = Wanted(
    definitions=[POLICIES, RULES, QUEUES],
    remains={QUEUES: ["osmo-*"]},
    labels=["nvidia.com/gpu.present", "nvidia.com/gpu.deploy.*"],
    annotations=["nvidia.com/gpu-driver-upgrade-enabled"],
    operator=POLICIES,
    webhooks={QUEUES: ["validatingwebhookconfigurations/queues", "mutatingwebhookconfigurations/pods"]},
)
NOTHING = Found([], {}, {})


@dataclass
class World:
    """`objects`: names by definition. `stuck`: definitions whose objects have finalizers that nobody removes."""

    objects: dict[str, list[str]]
    nodes: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    stuck: frozenset[str] = frozenset()
    refused: dict[str, int] = field(default_factory=dict[str, int])
    said: list[str] = field(default_factory=list[str])
    webhooks: list[str] = field(default_factory=list[str])

    def request(self, method: str, path: str, body: Any = None) -> Any:
        if code := self.refused.get(method):
            raise Refused(f"{method} {path}", code, "no")
        if path == NODES:
            return {"items": [{"metadata": {"name": name, **each}} for name, each in self.nodes.items()]}
        if method == "PATCH":
            node = self.nodes[path.removeprefix(f"{NODES}/")]
            for part, change in body["metadata"].items():
                node[part] = {key: value for key, value in node.get(part, {}).items() if key not in change}
            return {}
        if path.startswith(WEBHOOKS):
            if path not in self.webhooks:
                raise Refused(f"{method} {path}", 404, "not found")
            self.webhooks.remove(path)
            return {}
        if path.startswith(DEFINITIONS):
            return self._definition(method, path.removeprefix(f"{DEFINITIONS}/"))
        _, _, group, version, plural = path.split("/")
        assert version == "v2"
        return {"items": [{"metadata": {"name": name}} for name in self.objects[f"{plural}.{group}"]]}

    def _definition(self, method: str, name: str) -> Any:
        if name not in self.objects:
            raise Refused(f"{method} {name}", 404, "not found")
        if method == "DELETE" and name not in self.stuck:
            del self.objects[name]
        plural, _, group = name.partition(".")
        versions = [{"name": "v1", "served": False}, {"name": "v2", "served": True}]
        return {"spec": {"group": group, "names": {"plural": plural}, "versions": versions}}


def world() -> World:
    node = {"labels": dict(LABELS), "annotations": {"nvidia.com/gpu-driver-upgrade-enabled": "true"}}
    return World({POLICIES: [], RULES: [], QUEUES: ["osmo-pool-default"]}, {"a": node, "b": {"labels": {"x": "y"}}})


def run(given: World, found: Found = NOTHING) -> list[str]:
    return clean(given, WANTED, found, seconds=0, pause=lambda _: None, say=given.said.append)


def test_what_came_with_the_stack_is_removed() -> None:
    given = world()
    assert run(given) == []
    assert given.objects == {}
    assert given.nodes["a"] == {"labels": {"example.com/rack": "7"}, "annotations": {}}
    assert given.nodes["b"] == {"labels": {"x": "y"}}


def test_what_was_there_before_stays() -> None:
    given = world()
    assert run(given, Found([RULES], {"a": ["nvidia.com/gpu.present"]}, {})) == []
    assert set(given.objects) == {RULES}
    assert given.nodes["a"]["labels"] == {"nvidia.com/gpu.present": "true", "example.com/rack": "7"}


def test_a_definition_with_objects_of_another_owner_is_kept() -> None:
    given = world()
    given.objects[QUEUES].append("theirs")
    assert run(given) == []
    assert given.objects == {QUEUES: ["osmo-pool-default", "theirs"]}
    assert any("objects of another owner: theirs" in line for line in given.said)


def test_webhooks_that_an_operator_kept_go_with_its_kind() -> None:
    """Nothing answers them any more, so each object that they are asked about would be refused."""
    given = world()
    given.webhooks = [f"{WEBHOOKS}/validatingwebhookconfigurations/{name}" for name in ("queues", "theirs")]
    assert run(given) == []
    assert given.webhooks == [f"{WEBHOOKS}/validatingwebhookconfigurations/theirs"]
    for kept in (Found([QUEUES], {}, {}), NOTHING):
        given = world()
        given.webhooks = [f"{WEBHOOKS}/validatingwebhookconfigurations/queues"]
        given.objects[QUEUES].append("theirs")
        assert run(given, kept) == []
        assert given.webhooks, "somebody else's scheduler needs them"


def test_labels_stay_while_an_operator_is_there() -> None:
    given = world()
    given.objects[POLICIES] = ["of-somebody-else"]
    assert run(given) == []
    assert given.nodes["a"]["labels"] == LABELS
    assert set(given.objects) == {POLICIES}


def test_a_label_of_a_class_that_an_operator_uses_stays_with_it() -> None:
    given = world()
    given.objects[POLICIES] = ["of-somebody-else"]
    marks = {"labels": {"nvidia.com/gpu.deploy.driver": "true", "example.com/rack": "7"}}
    wanted = replace(WANTED, nodes={"a": marks})
    assert (
        clean(given, wanted, Found([], {}, {}, {"a": []}), seconds=0, pause=lambda _: None, say=given.said.append) == []
    )
    assert given.nodes["a"]["labels"] == {key: LABELS[key] for key in LABELS if key.startswith("nvidia.com/")}


def test_what_cannot_be_deleted_is_a_problem() -> None:
    given = world()
    given.stuck = frozenset({QUEUES})
    assert run(given) == [f"{QUEUES} is still being deleted: its objects have finalizers"]


@pytest.mark.parametrize(("method", "count"), [("DELETE", 3), ("PATCH", 1)])
def test_a_refusal_is_a_problem_and_the_rest_is_done(method: str, count: int) -> None:
    given = world()
    given.refused = {method: 403}
    assert len(run(given)) == count
    assert (given.objects == {}) is (method == "PATCH")


def test_the_job_ends_with_its_problems(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wanted, found = tmp_path / "wanted.json", tmp_path / "found.json"
    wanted.write_text(json.dumps(vars(WANTED)))
    found.write_text(json.dumps(vars(NOTHING)))
    arguments = [f"--wanted={wanted}", f"--found={found}", "--seconds=0"]
    assert program.main(arguments, world(), lambda _: None) == 0
    broken = world()
    broken.refused = {"GET": 500}
    assert program.main(arguments, broken, lambda _: None) == 1
    assert "GET" in capsys.readouterr().err
