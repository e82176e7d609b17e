"""What `physai up --run` shows of the gateway: who may submit a workflow there, and who may not."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from physical_ai.settings import Overlay, Settings, load
from simulator.entra import Principal
from simulator.errors import SimulationError
from simulator.osmo.control import gateway_server as control
from simulator.osmo.control.user import Refused, User
from tests.unit.settings.test_osmo_access import DATA
from tests.unit.simulator.test_osmo_gateway import KEY, Stack
from workbench.cli.workflows import gateway_check


@pytest.fixture
def workflow(tmp_path: Path) -> Path:
    file = tmp_path / "train.yaml"
    file.write_text("workflow: {name: train}")
    return file


def reach(stack: Stack, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets the command's users send requests to this gateway."""
    control.serve(stack.gateway.answer, folder)
    monkeypatch.setattr("simulator.osmo.control.tokens.key_in", lambda folder: KEY)  # pyright: ignore

    def user_at(simulation: Any, principal: Principal) -> User:
        return User(control.address(folder), folder, principal)

    monkeypatch.setattr(gateway_check, "user_at", user_at)
    context = SimpleNamespace(pool="default")
    monkeypatch.setattr(gateway_check, "deployed_context", lambda *_: context)  # pyright: ignore


def tried(workflow: Path, settings: Settings | None = None) -> dict[str, Any] | None:
    simulation: Any = None
    return gateway_check.check_refusal(simulation, settings or load("dev-westus2").settings, workflow)


def test_a_user_without_a_role_is_refused_and_shown(
    tmp_path: Path, workflow: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reach(Stack(tmp_path), tmp_path, monkeypatch)
    refused = tried(workflow)
    assert refused is not None
    assert (refused["user"], refused["code"]) == ("bystander", 403)
    ran = [{"id": "train-1", "submitted": {"user": "deployer", "roles": ["osmo-user"]}}]
    shown = gateway_check.described(ran, refused)
    assert shown[0] == f"gateway: {control.address(tmp_path)}, login with Entra ID"
    assert shown[1:] == [
        "  train-1, submitted by deployer (osmo-user): accepted",
        "  the same, submitted by bystander (no role): refused, 403",
    ]


def test_a_gateway_that_admits_every_caller_is_an_error(
    tmp_path: Path, workflow: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reach(Stack(tmp_path, listener={"default_identity": {"user": "admin"}}), tmp_path, monkeypatch)
    with pytest.raises(SimulationError, match="bystander, who is in no group with a role, may submit"):
        tried(workflow)


def test_a_service_that_does_not_answer_is_no_refusal(
    tmp_path: Path, workflow: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stack = Stack(tmp_path, listener={})
    stack.objects = {path: {} for path in stack.objects if "deployments" in path}
    reach(stack, tmp_path, monkeypatch)
    with pytest.raises(Refused, match="503"):
        tried(workflow)


def test_the_development_login_refuses_no_user(workflow: Path) -> None:
    osmo = {"mode": "platform", "access": {"login": "dev"}, "login": "dev"}
    settings = load("dev-westus2", [Overlay("test", {"dataServices": DATA, "osmo": osmo})]).settings
    assert tried(workflow, settings) is None
    assert gateway_check.described([], None) == ["gateway: login dev, every caller is an administrator"]
