"""When the stand-in's control plane writes KAI's queues: at connections, as OSMO 6.3.1 does, and not at submissions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from physical_ai.catalog.osmo import WORKER_ACCOUNT
from physical_ai.planning.osmo_service import QUEUES, chart_values
from physical_ai.settings import Overlay, load
from simulator.kubernetes.client import ApiError, Client
from simulator.osmo.control.configuration import Configuration
from simulator.osmo.control.policies import BUILT_IN
from simulator.osmo.control.queues import Queues

Json = dict[str, Any]
DEFAULT, H100 = "osmo-pool-osmo-workflows-default", "osmo-pool-osmo-workflows-h100"


class Api:
    """Objects by path, each with a version that a replacement raises."""

    def __init__(self) -> None:
        self.objects: dict[str, Json] = {}
        self.serves = True

    def path(self, version: str, kind: str, namespace: str | None, name: str | None = None) -> str:
        del version, namespace
        return f"/{kind}" + (f"/{name}" if name else "")

    def get(self, path: str, params: Mapping[str, str]) -> Json:
        assert params == {"labelSelector": "osmo.namespace=osmo-workflows"}
        if not self.serves:
            raise ApiError(404, {"message": "not served"})
        return {"items": [item for key, item in self.objects.items() if key.startswith(f"{path}/")]}

    def request(self, method: str, path: str, body: Json | None = None) -> Json:
        if method == "DELETE":
            return self.objects.pop(path)
        assert body is not None
        key = path if method == "PUT" else f"{path}/{body['metadata']['name']}"
        version = int(self.objects[key]["metadata"]["resourceVersion"]) + 1 if method == "PUT" else 1
        self.objects[key] = {**body, "metadata": {**body["metadata"], "resourceVersion": str(version)}}
        return self.objects[key]

    def names(self) -> set[str]:
        return {item["metadata"]["name"] for item in self.objects.values()}


def pod(uid: str, account: str = "osmo") -> Json:
    arguments = ["--backend", "default"]
    spec = {"serviceAccountName": account, "containers": [{"args": arguments}]}
    return {"metadata": {"uid": uid}, "spec": spec, "status": {"phase": "Running"}}


class World:
    """A backend with its agents, and what the pools are."""

    def __init__(self, folder: Path) -> None:
        self.api = Api()
        self.agents, self.services, self.offline = [pod("worker", WORKER_ACCOUNT)], [pod("agent")], ""
        self.pools: dict[str, Any] = {"default": {"backend": "default"}}
        self.here, self.annotation = True, ""
        self._folder = folder
        self.start()

    def start(self) -> None:
        """Of the process that has the queues."""
        worker = cast("Client", self.api)
        self._queues = Queues(
            lambda: self.agents, lambda: self.services, lambda backend: self.offline, lambda: worker, self._folder
        )

    def round(self) -> set[str]:
        configuration = Configuration(
            here=self.here, login="entra", audience="", roles=BUILT_IN, pools=self.pools, agents=self.annotation
        )
        self._queues.round(configuration)
        return self.api.names() - {"osmo-default-osmo-workflows"}


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_queues_come_when_the_agents_connect(world: World) -> None:
    world.offline = "Access Token has expired"
    assert world.round() == set()
    world.offline = ""
    assert world.round() == {DEFAULT}


def test_a_changed_configuration_alone_changes_no_queue(world: World) -> None:
    world.round()
    world.pools["h100"] = {"backend": "default", "resources": {"gpu": {"guarantee": 2, "maximum": 8, "weight": 1}}}
    assert world.round() == {DEFAULT}
    world.start()
    assert world.round() == {DEFAULT}, "a process that starts again is no connection"


@pytest.mark.parametrize("which", ["agents", "services"])
def test_another_pod_at_either_end_is_another_connection(world: World, which: str) -> None:
    world.round()
    world.pools = {"h100": {"backend": "default", "resources": {"gpu": {"guarantee": 2, "maximum": 8, "weight": 3}}}}
    getattr(world, which)[0]["metadata"]["uid"] = "another"
    assert world.round() == {H100}
    spec = world.api.objects[f"/Queue/{H100}"]["spec"]
    assert spec["resources"]["gpu"] == {"quota": 2, "limit": 8, "overQuotaWeight": 3}


def test_queues_wait_for_the_scheduler_s_kinds(world: World) -> None:
    world.api.serves = False
    assert world.round() == set()
    world.api.serves = True
    assert world.round() == {DEFAULT}


def test_a_pool_of_another_backend_has_no_queue_here(world: World) -> None:
    world.pools["sweden"] = {"backend": "sweden"}
    assert world.round() == {DEFAULT}


def test_a_control_plane_elsewhere_starts_other_pods_for_another_annotation(world: World) -> None:
    world.here, world.services = False, []
    world.round()
    world.pools["h100"] = {"backend": "default"}
    assert world.round() == {DEFAULT}
    world.annotation = "other"
    assert world.round() == {DEFAULT, H100}


# What the program does about it

PLATFORM = ("osmo.queues=perPool",)


def annotation(*assignments: str) -> str:
    settings = load("dev-southeastasia", [Overlay.assign([*PLATFORM, *assignments])]).settings
    return chart_values(settings)["services"]["agent"]["extraPodAnnotations"][QUEUES]


def test_a_changed_queue_restarts_what_agents_are_connected_to() -> None:
    pools = load("dev-southeastasia").settings.pools
    (key, *_) = pools
    assert annotation() == annotation("osmo.timeouts.execDefault=2h")
    assert annotation() != annotation(f"osmo.platforms.{key}.quota.maximum=1")
    assert annotation() != annotation("osmo.queues=shared")
