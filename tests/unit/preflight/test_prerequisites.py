"""Prerequisites of a first deployment: from the settings and the catalogue, with what is not needed beside them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from physical_ai.catalog.prerequisites import plans, tools
from physical_ai.settings import Overlay, load
from physical_ai.settings.facts.required_secrets import required_secrets
from tests.support.cases import in_one_test
from tests.support.stacks import azure_stacks
from workbench.cli.deployment_prerequisites import pinned
from workbench.cli.main import run
from workbench.preflight.judging import needed_registrations
from workbench.preflight.prerequisites import Prerequisite, not_needed, prerequisites

QUICK, PUBLIC, PRIVATE = "quickstart-westus2", "dev-southeastasia", "prod-westeurope"


def needed(stack: str, topic: str, **overrides: Any) -> list[Prerequisite]:
    settings = load(stack, [Overlay("test", overrides)]).settings
    return [each for each in prerequisites(settings, pinned()) if each.topic == topic]


def test_a_tool_has_the_version_that_the_checkout_pins_or_the_stack_sets() -> None:
    names = [each.what for each in needed(QUICK, "tool")]
    assert f"Pulumi exactly {pinned()['pulumi']}" in names
    assert "kubectl within one minor of 1.36" in names
    assert "OSMO client 6.3.1" in names
    assert "Git" in names
    assert all("{" not in name for name in names)
    assert "OSMO client 6.3.1" not in [each.what for each in needed("dev-westus2", "tool")]


def test_a_program_of_the_machine_is_looked_up() -> None:
    settings = load(QUICK).settings
    listed = prerequisites(settings, pinned(), {"git": "/usr/bin/git"}.get)
    here = {each.what.split(" ")[0]: each.present for each in listed if each.topic == "tool"}
    assert (here["Git"], here["Pulumi"]) == (True, False)
    assert {each.present for each in listed if each.topic != "tool"} == {None}


@in_one_test("stack", azure_stacks())
def test_providers_secrets_and_quota_are_those_of_the_check(stack: str) -> None:
    settings = load(stack).settings
    (provider,) = needed(stack, "provider")
    assert provider.get is not None
    assert all(name in provider.get for name in needed_registrations(settings))
    assert [each.what for each in needed(stack, "secret")] == [name for _, name in required_secrets(settings)]
    assert needed(stack, "quota")


def test_the_short_way_needs_nothing_that_somebody_else_orders() -> None:
    assert [each.topic for each in prerequisites(load(QUICK).settings, pinned())] == [
        *["tool"] * 9,
        *["right"] * 2,
        "provider",
        *["quota"] * 3,
        *["GitHub"] * 3,
    ]
    spared = [each.what for each in not_needed(load(QUICK).settings)]
    assert len(spared) == 8
    assert "an Entra application, and groups" in spared


def test_others_need_a_tenant_a_name_a_secret_and_rights_elsewhere() -> None:
    topics = {each.topic for each in prerequisites(load(PRIVATE).settings, pinned())}
    assert topics == {"tool", "right", "provider", "quota", "tenant", "name", "secret", "network", "GitHub"}
    assert any("kv-certificates" in each.what for each in needed(PRIVATE, "right"))
    spared = [each.what for each in not_needed(load(PRIVATE).settings)]
    assert "an Entra application, and groups" not in spared
    assert "quota of a GPU family" not in spared
    ranges = [each.what for each in needed("prod-westus2", "network")]
    assert ranges == ["the public ranges of your offices and CI runners, in cluster.apiAccess.authorizedIpRanges"]


def test_who_deploys_is_asked_for_until_it_is_named() -> None:
    given = {"access": {"deployers": [{"principalId": "11111111-1111-4111-8111-111111111111"}]}}
    assert len(needed(QUICK, "right")) == 2
    assert len(needed(QUICK, "right", **given)) == 1


def test_a_fabric_needs_a_feature() -> None:
    pool = {"sku": "Standard_ND96isr_H100_v5", "fabric": "infiniband", "priority": "Regular"}
    scale = {"count": 2, "min": None, "max": None, "initial": None}
    found = needed("dev-westus2", "feature", pools={"h100gpu": {**pool, "scale": scale}}, networkOperator={})
    assert [each.what for each in found] == ["AKSInfinibandSupport"]


def test_every_row_of_the_catalogue_is_dated_and_in_order() -> None:
    assert len({each.name for each in tools()}) == len(tools())
    assert [each.plan for each in plans()] == ["any", "Pro or Team", "Enterprise"]


def test_the_command_prints_them_and_asks_nobody(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", QUICK, "--prerequisites", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["stack"] == QUICK
    assert {each["topic"] for each in document["needed"]} == {"tool", "right", "provider", "quota", "GitHub"}
    assert run(["check", PUBLIC, "--prerequisites"]) == 0
    assert "an Entra application" in capsys.readouterr().out
    assert run(["check", "onprem-lab", "--prerequisites"]) == 2
    assert "docs/existing-clusters.md" in capsys.readouterr().err
