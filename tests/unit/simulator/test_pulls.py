"""Which images a closed registry has, as the stand-in's kubelet sees it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest

from physical_ai.readiness.osmo import not_ready
from simulator.azure.state import Resource
from simulator.kubernetes.client import Client
from simulator.operators import pulls
from simulator.operators.pulls import IMPORTED, POLICY, Pulls

Json = dict[str, Any]
REGISTRY = "/subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerRegistry/registries/crprod"
ENVOY = "crprod.azurecr.io/docker.io/envoyproxy/envoy:v1.38.1"


class Api:
    def __init__(self, *imported: str) -> None:
        notes = {IMPORTED: json.dumps(list(imported))} if imported else {}
        self.objects: dict[str, Json] = {POLICY: {"metadata": {"annotations": notes}}}

    def find(self, path: str) -> Json | None:
        return self.objects.get(path)


def asked(monkeypatch: pytest.MonkeyPatch, image: str, *imported: str) -> str:
    rule = f"{REGISTRY}/cacheRules/nvcr-io"
    resources = {
        each.id: each
        for each in (
            Resource(REGISTRY, "Registry", {"registryName": "crprod"}, {}),
            Resource(rule, "CacheRule", {"registryName": "crprod", "targetRepository": "nvcr.io/*"}, {}),
        )
    }

    class Store:
        def __init__(self, file: Path) -> None:
            self.resources = resources

        def refresh(self) -> None:
            """Nothing changes."""

    monkeypatch.setattr(pulls, "Store", Store)
    found = Pulls(cast("Client", Api(*imported)), Path()).problem({"spec": {"containers": [{"image": image}]}})
    return "" if found is None else f"{found.waiting} {found.message}"


@pytest.mark.parametrize("host", ["", "crprod.azurecr.io/"])
def test_what_is_cached_or_of_another_registry_is_pulled(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    assert asked(monkeypatch, f"{host}nvcr.io/nvidia/osmo/service:6.3.1") == ""


def test_what_no_rule_brings_is_pulled_only_after_an_import(monkeypatch: pytest.MonkeyPatch) -> None:
    assert f'ImagePullBackOff Failed to pull image "{ENVOY}"' in asked(monkeypatch, ENVOY)
    assert asked(monkeypatch, ENVOY, "docker.io/envoyproxy/envoy:v1.38.1") == ""
    assert "not found" in asked(monkeypatch, ENVOY, "docker.io/envoyproxy/envoy:v1.37.0")


def test_a_deployment_says_which_image_is_missing_and_how_it_comes() -> None:
    waiting = {"image": ENVOY, "state": {"waiting": {"reason": "ImagePullBackOff"}}}
    pod = {"metadata": {"name": "osmo-gateway-envoy-5d-x"}, "status": {"containerStatuses": [waiting]}}
    gateway = {"metadata": {"name": "osmo-gateway-envoy"}, "spec": {"replicas": 1}}
    lists = {
        "/apis/apps/v1/namespaces/osmo-control-plane/deployments": [gateway],
        "/api/v1/namespaces/osmo-control-plane/pods": [pod],
    }
    lines = not_ready(lambda path, parameters: {"items": lists.get(path, [])}, agents=False, service=True)
    (line,) = (each for each in lines if "osmo-gateway-envoy" in each)
    assert "0 of 1 available: ImagePullBackOff" in line
    source = "docker.io/envoyproxy/envoy:v1.38.1"
    assert line.endswith(f"az acr import --name crprod --source {source} --image {source}")
