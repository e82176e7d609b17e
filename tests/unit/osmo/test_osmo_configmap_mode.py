"""What we render, held against what OSMO demands of a configuration in a file, and fills in itself elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, cast

import pytest

from physical_ai.catalog.osmo import CHART_VERSION
from physical_ai.catalog.osmo_service import USER_ACTIONS
from physical_ai.planning.osmo_service import configuration
from physical_ai.settings import Loaded, Overlay, load
from simulator.osmo.control import interactive
from simulator.osmo.control.interactive import Refusal, Running
from simulator.osmo.control.policies import BUILT_IN, USER, allowed, roles_of
from tests.support.cases import in_one_test
from tests.support.stacks import azure_stacks

FACTS = interactive.facts()
CHART_ROLES = {"osmo-user": {"policies": [{"actions": list(USER_ACTIONS)}]}}
"""The roles are the chart's own where the stack changes nothing."""


def found(document: Mapping[str, Any], path: str) -> Iterator[Any]:
    """Every value at a path; None for each one that is absent."""
    head, _, rest = path.partition(".")
    inside = list(document.values()) if head == "*" else [document.get(head)]
    for each in inside:
        if not rest or each is None:
            yield each
        else:
            yield from found(cast("Mapping[str, Any]", each), rest)


def rendered(loaded: Loaded) -> dict[str, Any]:
    """As the file config.yaml has it."""
    sections = configuration(loaded.settings, loaded.served)
    names = {"podTemplates": "pod_templates", "resourceValidations": "resource_validations"}
    return {"roles": CHART_ROLES, **{names.get(key, key): value for key, value in sections.items()}}


@cache
def with_service() -> list[str]:
    return [stack for stack in azure_stacks() if load(stack).settings.osmo.installs_service]


@in_one_test("row", FACTS["demanded"], ids=lambda row: row["path"])
@in_one_test("stack", with_service())
def test_what_the_service_fills_in_only_in_its_database_is_in_the_file(stack: str, row: dict[str, Any]) -> None:
    values = list(found(rendered(load(stack)), row["path"]))
    assert values
    for value in values:
        assert value, f"{row['path']}: {row['without']} ({row['source']})"
        assert re.search(row.get("pattern", ""), value if isinstance(value, str) else "")


@in_one_test("row", FACTS["left"], ids=lambda row: row["path"])
@in_one_test("stack", with_service())
def test_what_is_left_to_the_service_is_not_in_the_file(stack: str, row: dict[str, Any]) -> None:
    assert set(found(rendered(load(stack)), row["path"])) == {None}


def test_the_facts_are_of_the_release_that_the_chart_installs() -> None:
    assert load("dev-southeastasia").settings.osmo.image_tag == FACTS["release"] == f"6.{CHART_VERSION[2:]}"


def platform(*assignments: str) -> Loaded:
    return load("dev-southeastasia", [Overlay.assign(list(assignments))])


@pytest.mark.parametrize("stack", with_service())
def test_the_router_is_behind_the_gateway_and_as_encrypted_as_it(stack: str) -> None:
    loaded = load(stack)
    access, file = loaded.settings.osmo.access, rendered(loaded)
    scheme = "ws" if access.tls is None else "wss"
    host = access.host or "osmo-gateway.osmo-control-plane.svc.cluster.local"
    assert {each["router_address"] for each in file["backends"].values()} == {f"{scheme}://{host}"}


def test_a_backend_whose_control_plane_has_no_address_yet_has_no_router() -> None:
    settings = load("dev-westus2", [Overlay.assign(["osmo.mode=backend", "osmo.serviceUrl=null"])]).settings
    assert "router_address" not in configuration(settings)["backends"][settings.osmo.backend_name]


# The stand-in's service

RUNNING = Running("default", {"train": "Running", "later": "Pending"})
CALLS = {"exec": {"entry_command": ["bash"]}, "portforward": {"task_ports": ["80"]}, "webserver": {"task_port": ["80"]}}


def ask(call: str, configs: Mapping[str, Any], workflow: Running | None = RUNNING, task: str = "train") -> Any:
    return interactive.session(call, "w-1", task, look=lambda _: workflow, configs=configs, entry=CALLS.get(call, {}))


@pytest.mark.parametrize("call", CALLS)
def test_a_running_task_is_reached_with_what_the_program_renders(call: str) -> None:
    file = rendered(load("dev-southeastasia"))
    assert ask(call, file)["router_address"] == next(iter(file["backends"].values()))["router_address"]


@pytest.mark.parametrize("call", CALLS)
def test_without_a_router_the_service_fails(call: str) -> None:
    file = rendered(load("dev-southeastasia"))
    (name,) = file["backends"]
    del file["backends"][name]["router_address"]
    with pytest.raises(Refusal, match=f"Backend {name} has no router!") as caught:
        ask(call, file)
    assert caught.value.code == 500
    file["backends"][name]["router_address"] = "https://osmo.contoso.com"
    with pytest.raises(Refusal, match="Invalid router address"):
        ask(call, file)


def test_files_are_copied_into_tasks_only_where_the_stack_says_so() -> None:
    with pytest.raises(Refusal, match="Rsync is not enabled") as caught:
        ask("rsync", rendered(load("dev-southeastasia")))
    assert caught.value.code == 403
    assert ask("rsync", rendered(platform("osmo.rsync=true")))["router_address"].startswith("ws")


@pytest.mark.parametrize(
    ("workflow", "task", "code"),
    [
        (None, "train", 400),
        (Running("default", {"train": "Succeeded"}), "train", 410),
        (Running("default", {"train": "Pending"}), "train", 425),
        (RUNNING, "later", 425),
        (RUNNING, "other", 404),
    ],
)
def test_a_task_that_does_not_run_is_refused_as_the_service_does(
    workflow: Running | None, task: str, code: int
) -> None:
    with pytest.raises(Refusal) as caught:
        ask("exec", rendered(load("dev-southeastasia")), workflow, task)
    assert caught.value.code == code


def test_a_role_for_one_pool_reaches_tasks_of_every_pool() -> None:
    """The authorization service of a configuration in a file knows no workflow's pool, and asks about all of them."""
    policies = [{"effect": "Allow", "actions": ["workflow:*"], "resources": ["pool/h100"]}]
    roles = roles_of({"team": {"policies": policies}})
    assert allowed(roles, ["team"], "workflow:Exec", "pool/*")
    assert not allowed(roles, ["team"], "workflow:Create", "pool/default")
    assert allowed(BUILT_IN, [USER], "workflow:Exec", "pool/*")
    assert not allowed(BUILT_IN, [], "workflow:Exec", "pool/*")
