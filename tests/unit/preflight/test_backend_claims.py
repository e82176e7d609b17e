"""Stacks that would be one cluster to OSMO, before either is deployed."""

from __future__ import annotations

from typing import Any

import pytest

from physical_ai.findings import Severity
from physical_ai.settings import Overlay, Settings, load
from tests.unit.settings.test_osmo_access import ACCESS, DATA
from workbench.preflight.backends import claims

URL = f"https://{ACCESS['host']}"


def stack(name: str, **osmo: Any) -> Settings:
    data = {"dataServices": DATA} if osmo["mode"] == "platform" else {}
    return load(name, [Overlay("test", {**data, "osmo": osmo})]).settings


def served(name: str, backend: str, url: str = URL) -> Settings:
    return stack(name, mode="backend", serviceUrl=url, backendName=backend)


def test_two_clusters_under_one_name_are_one_to_osmo() -> None:
    (found,) = claims(served("dev-westus2", "robots"), [served("staging-westus2", "robots")])
    assert (found.severity, found.where) == (Severity.ERROR, "dev-westus2")
    assert "staging-westus2 log in at https://osmo.contoso.com as 'robots' too" in found.problem
    assert found.fix == "osmo.backendName: a name of its own."


@pytest.mark.parametrize(
    "other",
    [
        served("staging-westus2", "others"),
        served("staging-westus2", "robots", "https://another.contoso.com"),
        stack("staging-westus2", mode="namespaces"),
    ],
)
def test_another_name_or_another_control_plane_is_no_conflict(other: Settings) -> None:
    assert list(claims(served("dev-westus2", "robots"), [other])) == []


def test_a_cluster_that_its_control_plane_does_not_name_is_reported_from_both_sides() -> None:
    platform, backend = stack("dev-westus2", mode="platform", access=ACCESS), served("staging-westus2", "robots")
    for found in (*claims(platform, [backend]), *claims(backend, [platform])):
        assert "staging-westus2 work for dev-westus2, which does not serve it" in found.problem
        assert found.fix == "osmo.backends: [staging-westus2] in the stack dev-westus2."
    named = platform.model_copy(update={"osmo": platform.osmo.model_copy(update={"backends": ("staging-westus2",)})})
    assert [*claims(named, [backend]), *claims(backend, [named])] == []


def test_two_control_planes_have_two_addresses() -> None:
    one, other = (stack(name, mode="platform", access=ACCESS) for name in ("dev-westus2", "staging-westus2"))
    (found,) = claims(one, [other])
    assert found.fix == "osmo.access.host: a name of its own."
    inside = [stack(name, mode="platform", access={"login": "dev"}) for name in ("dev-westus2", "staging-westus2")]
    assert list(claims(inside[0], inside[1:])) == []
