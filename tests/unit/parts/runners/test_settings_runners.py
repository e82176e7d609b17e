"""What is refused, or doubtful, of runners in the cluster."""

from __future__ import annotations

import json
from typing import Any

import pytest

from components.config import secret_faults
from parts.runners.facts import runner_label
from parts.runners.names import LONGEST_NAME
from physical_ai.settings import Overlay, load
from physical_ai.settings.faults import Fault, SettingsError
from tests.support.cases import in_one_test
from tests.unit.settings.settings_faults import expect

RUNNERS: dict[str, Any] = {
    "configUrl": "https://github.com/contoso/robots",
    "app": {"clientId": "Iv23liABCDEF", "installationId": "51234567"},
    "pool": {"sku": "Standard_D4ds_v5", "scale": {"min": 0, "max": 2}, "zones": ["1", "2", "3"]},
}


def overlay(*others: str, **changes: Any) -> list[Overlay]:
    return [Overlay.assign([f"runners={json.dumps({**RUNNERS, **changes})}", *others])]


def faults_of(*others: str, **changes: Any) -> list[Fault]:
    with pytest.raises(SettingsError) as caught:
        load("prod-westeurope", overlay(*others, **changes))
    return caught.value.faults


def warned(stack: str, **changes: Any) -> list[Fault]:
    return load(stack, overlay(**changes)).warnings


@in_one_test(
    ("changes", "path", "text"),
    [
        ({"configUrl": "http://github.com/contoso"}, "runners.configUrl", "https address"),
        ({"configUrl": "https://github.com"}, "runners.configUrl", "https address"),
        ({"configUrl": "https://github.com/"}, "runners.configUrl", "https address"),
        ({"min": 3, "max": 2}, "runners", "must not be greater"),
        ({"label": "Has_Capitals"}, "runners.label", "scale set's name"),
        ({"image": "ghcr.io/contoso/runner:1"}, "runners.image", "digest"),
        ({"group": "deployers"}, "runners.group", "one repository"),
        (
            {"configUrl": "https://github.com/contoso", "group": "deployers", "clusterRole": "admin"},
            "runners.clusterRole",
            "administrator of the cluster",
        ),
        ({"pool": {**RUNNERS["pool"], "sku": "Standard_D4_v99"}}, "runners.pool.sku", "Standard_D4_v99"),
        ({"pool": {**RUNNERS["pool"], "scale": {"count": 0}}}, "runners.pool.scale", "no job would run"),
    ],
)
def test_what_is_refused(changes: dict[str, Any], path: str, text: str) -> None:
    expect(faults_of(**changes), path, text)


def test_runners_for_a_public_api_server_are_doubtful() -> None:
    expect(warned("dev-westus2"), "runners", "public address")
    assert not [each for each in warned("prod-westeurope") if each.where.startswith("runners")]


def test_an_organization_without_a_group_is_doubtful() -> None:
    warnings = warned("prod-westeurope", configUrl="https://github.com/contoso")
    expect(warnings, "runners.configUrl", "every repository of contoso")


def test_without_its_key_a_deployment_is_refused() -> None:
    loaded = load("prod-westeurope", overlay())
    others = ["osmoOidcClientSecret", "osmoTlsCertificate", "osmoTlsKey"]
    expect(secret_faults(loaded, others), "runners.app", "githubAppPrivateKey")
    assert not secret_faults(loaded, [*others, "githubAppPrivateKey"])


def test_the_address_range_counts_their_nodes() -> None:
    pool = {**RUNNERS["pool"], "scale": {"min": 0, "max": 90}}
    expect(faults_of("network.systemSubnet=10.46.0.0/26", pool=pool), "network.systemSubnet", "runners' pools")


def test_jobs_name_the_stack() -> None:
    assert runner_label(load("prod-westeurope").settings) == "physical-ai-prod-westeurope"
    assert len(runner_label(load("prod-westeurope").settings)) <= LONGEST_NAME
