"""Files of an agent that an earlier deployment has left in the cluster, when the program needs them again."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pulumi
import pytest

from components.kubernetes import agent_files
from physical_ai.readiness.reader import Missing, Unreachable
from tests.unit.conftest import Simulate

STACK = "dev-westus2"
FILES = ("physical-ai-grid-driver-files", "physical-ai-gpu-evidence-files")
TAKEN = 'resource "…" was not successfully created by the Kubernetes API server: configmaps "files-1" already exists'
WANTED = {"metadata": {"namespace": "gpu-operator", "name": "files-1"}, "immutable": True, "data": {"a.py": "1"}}
PATH = "/api/v1/namespaces/gpu-operator/configmaps/files-1"


@dataclass
class ApiServer:
    """An API server with one ConfigMap or none, and the requests that it gets."""

    data: Mapping[str, str] | None
    asked: list[tuple[Any, ...]] = field(default_factory=list[tuple[Any, ...]])
    refuses: bool = False

    def connect(self, kubeconfig: str) -> Any:
        assert kubeconfig, "the hook opens no cluster"
        return self.send

    def send(self, method: str, path: str, parameters: Mapping[str, str], body: Any = None) -> Any:
        self.asked.append((method, path, body))
        if self.refuses:
            raise Unreachable("403 no")
        if self.data is None:
            raise Missing("not found")
        return {"metadata": {"uid": "u", "resourceVersion": "7"}, "data": self.data}


@dataclass(frozen=True)
class Tried:
    """Answer of the hook, what it has said, and what it has asked the API server."""

    again: bool
    said: Sequence[str]
    asked: Sequence[tuple[Any, ...]]


@pytest.fixture
def tried(simulate: Simulate, monkeypatch: pytest.MonkeyPatch) -> Any:
    hook = simulate(STACK).hooks[f"{FILES[0]}-again"]

    def call(server: ApiServer, *errors: str, operation: str = "create", dry_run: bool = False) -> Tried:
        said: list[str] = []
        monkeypatch.setattr(agent_files, "connect_to_change", server.connect)
        monkeypatch.setattr(pulumi.log, "info", said.append)
        monkeypatch.setattr(pulumi.log, "warn", said.append)
        monkeypatch.setattr(pulumi.runtime, "is_dry_run", lambda: dry_run)

        async def answer() -> bool:
            args = pulumi.ErrorHookArgs("urn", "", FILES[0], "t", WANTED, failed_operation=operation)
            args.errors = list(errors or [TAKEN])
            found = hook(args)
            assert not isinstance(found, bool)
            return await found

        return Tried(asyncio.run(answer()), said, server.asked)

    return call


def test_every_config_map_that_remains_is_created_again(simulate: Simulate) -> None:
    recording = simulate(STACK)
    kept = {each.name: each for each in recording.of_type("ConfigMap") if each.options.retain_on_delete}
    assert set(kept) == set(FILES)
    for name, each in kept.items():
        assert recording.hooked[each.urn] == ("physical-ai-role-propagation", f"{name}-again")


def test_the_same_files_are_deleted_as_they_were_seen_and_created_again(tried: Any) -> None:
    found = tried(ApiServer(WANTED["data"]))
    assert found.again
    assert found.asked == [
        ("GET", PATH, None),
        ("DELETE", PATH, {"preconditions": {"uid": "u", "resourceVersion": "7"}}),
    ]


def test_other_files_of_this_name_are_left_alone(tried: Any) -> None:
    found = tried(ApiServer({"a.py": "2"}))
    assert not found.again
    assert [method for method, *_ in found.asked] == ["GET"]
    assert "gpu-operator/files-1 has other files" in found.said[0]


def test_files_that_are_gone_meanwhile_are_created(tried: Any) -> None:
    assert tried(ApiServer(None)).again


def test_a_refused_request_ends_the_deployment_with_the_reason(tried: Any) -> None:
    found = tried(ApiServer(WANTED["data"], refuses=True))
    assert not found.again
    assert "403 no" in found.said[0]


@pytest.mark.parametrize(
    ("errors", "more"),
    [
        (("quota exceeded",), {}),
        ((TAKEN,), {"operation": "update"}),
        ((TAKEN,), {"dry_run": True}),
        ((TAKEN,) * (agent_files.MAX_ATTEMPTS + 1), {}),
    ],
)
def test_nothing_else_deletes_a_config_map(tried: Any, errors: tuple[str, ...], more: Mapping[str, Any]) -> None:
    found = tried(ApiServer(WANTED["data"]), *errors, **more)
    assert not found.again
    assert found.asked == []
