"""Definitions of several releases in a real API server, one after the other."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import pytest

from simulator.charts import crds
from simulator.kubernetes import ApiError, Client
from simulator.kubernetes.client import APPLY_PATCH
from simulator.kubernetes.definitions import DEFINITIONS
from tests.support.charts import DRIVERS, OPERATOR, POLICY, RELEASES, Json, driver, render
from tests.support.waiting import until


class ApiServer(Protocol):
    kubeconfig: str
    path: Path


def apply(client: Client, path: str, document: Json) -> Json:
    return client.patch(path, document, APPLY_PATCH, {"fieldManager": "test", "force": "true"})


@pytest.fixture
def old_definitions(own_api_server: ApiServer) -> Client:
    """A cluster with those of v25.3.4."""
    client = Client(own_api_server.kubeconfig)
    for item in crds(OPERATOR, "v25.3.4"):
        apply(client, f"{DEFINITIONS}/{item['metadata']['name']}", item)
    until(lambda: client.find(POLICY) is not None and client.find(DRIVERS) is not None, "definitions are not served")
    return client


@pytest.mark.deep
def test_old_definitions_drop_what_is_new_and_refuse_the_null_chart(old_definitions: Client) -> None:
    """In `make test`: the newest definitions in test_chart_definitions.py, what each release renders in
    test_chart_models.py."""
    made = old_definitions.request("POST", DRIVERS, driver("own", default=True, upgradePolicy={"autoUpgrade": True}))
    assert {"default", "upgradePolicy"}.isdisjoint(made["spec"])
    old_definitions.request("DELETE", f"{DRIVERS}/own")

    policy = next(item for item in render("v25.3.4") if item["kind"] == "ClusterPolicy")
    with pytest.raises(ApiError, match=r"validator\.plugin.*must be of type object"):
        apply(old_definitions, f"{POLICY}/cluster-policy", policy)
    # A plain create, which is what helm does, drops the null.
    assert "plugin" not in old_definitions.request("POST", POLICY, policy)["spec"]["validator"]
    old_definitions.request("DELETE", f"{POLICY}/cluster-policy")


@pytest.mark.deep  # in `make test`: the newest in test_chart_definitions.py
def test_the_definitions_of_a_release_replace_those_of_any_other(own_api_server: ApiServer) -> None:
    client = Client(own_api_server.kubeconfig)
    found: list[tuple[str, bool]] = []
    for release in (*RELEASES, RELEASES[0]):
        for item in crds(OPERATOR, release):
            live = apply(client, f"{DEFINITIONS}/{item['metadata']['name']}", item)
            if item["spec"]["names"]["kind"] == "NVIDIADriver":
                spec = live["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
                found.append((release, "upgradePolicy" in spec["properties"]))
    assert found == [(release, release.startswith("v26.7.")) for release in (*RELEASES, RELEASES[0])]
