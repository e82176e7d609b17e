"""The agents as the stand-in's control plane sees them, and Pods of the Job that creates their token."""

from __future__ import annotations

import base64
import datetime
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from physical_ai.catalog.osmo import LISTENER_ACCOUNT, WORKER_ACCOUNT
from physical_ai.planning.osmo_token import osmo_token_objects
from physical_ai.settings import Overlay, load
from simulator.cluster.objects import Json
from simulator.kubernetes.client import ApiError
from simulator.osmo.control import gateway_server
from simulator.osmo.control.accounts import Accounts
from simulator.osmo.control.agents import SECRET, Agents
from simulator.osmo.control.configuration import Configuration
from simulator.osmo.control.gateway import Answer, Gateway, Request, Surroundings
from simulator.osmo.control.policies import BUILT_IN
from simulator.osmo.control.token_pods import TokenPods
from tests.support.waiting import LIMIT

ADMIN = "a" * 43
USER = "default-agents"


class World:
    """A cluster with its agents' Pods and Secrets, and the accounts of its control plane."""

    def __init__(self, folder: Path) -> None:
        self.configuration = Configuration(here=True, login="entra", audience="osmo", roles=BUILT_IN)
        self.pods: list[Json] = []
        self.objects: dict[str, Json] = {}
        self.accounts = Accounts(folder, frozenset)
        self.accounts.create_user(USER, ["osmo-backend"], "admin")
        around = Surroundings(lambda: self.configuration, lambda: ADMIN, lambda backend: {})
        self.gateway = Gateway(self.accounts, b"key", around)
        self.agents = Agents(lambda: self.pods, self.find, lambda: self.configuration, self.gateway.who)

    def find(self, path: str) -> Json | None:
        return self.objects.get(path)

    def token(self, name: str, roles: tuple[str, ...] = ("osmo-backend",)) -> str:
        day = datetime.datetime.now(datetime.UTC).date() + datetime.timedelta(days=9)
        return self.accounts.create_token(USER, name, day.isoformat(), "", list(roles))

    def store(self, value: str) -> None:
        self.objects[SECRET] = {"data": {"token": base64.b64encode(value.encode()).decode()}}

    def start(self, uid: str, *accounts: str, phase: str = "Running", args: tuple[str, ...] = ()) -> list[Json]:
        made: list[Json] = [
            {
                "metadata": {"uid": f"{uid}-{account}"},
                "spec": {
                    "serviceAccountName": account,
                    "containers": [{"args": ["--backend", "default", *args]}],
                },
                "status": {"phase": phase},
            }
            for account in accounts or (LISTENER_ACCOUNT, WORKER_ACCOUNT)
        ]
        self.pods += made
        self.agents.look()
        return made


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_agents_with_a_valid_token_are_connected(world: World) -> None:
    world.store(world.token("one"))
    world.start("a")
    assert world.agents.offline("default") == ""
    assert world.agents.offline("other") == "No listener of it is running."


@pytest.mark.parametrize("value", ["", "x" * 43])
def test_agents_with_a_wrong_token_are_not(world: World, value: str) -> None:
    world.store(value)
    (listener, _) = world.start("a")
    assert world.agents.offline("default").startswith("The listener is refused: Access ")
    assert world.agents.refusal(listener).startswith("Access ")


def test_a_backend_without_its_worker_is_not_connected(world: World) -> None:
    world.store(world.token("one"))
    world.start("a", LISTENER_ACCOUNT)
    assert world.agents.offline("default") == "No worker of it is running."


def test_an_agent_keeps_what_it_has_read_until_it_is_restarted(world: World) -> None:
    """So the token before a rotation has to remain valid until all agents have moved."""
    world.store(world.token("one"))
    world.start("a")
    world.store(world.token("two"))
    assert world.agents.offline("default") == ""
    world.accounts.delete_token(USER, "one")
    assert "is invalid" in world.agents.offline("default")
    world.pods.clear()
    world.start("b")
    assert world.agents.offline("default") == ""


def test_during_a_rollout_one_accepted_agent_of_each_kind_is_enough(world: World) -> None:
    world.store("y" * 43)
    world.start("old")
    world.store(world.token("one"))
    world.start("new")
    assert world.agents.offline("default") == ""


def test_a_token_without_the_role_connects_no_agent(world: World) -> None:
    world.accounts.assign(USER, "osmo-user", "admin")
    world.store(world.token("one", ("osmo-user",)))
    world.start("a")
    assert "lacks the role osmo-backend" in world.agents.offline("default")


def test_the_development_login_needs_a_gateway_that_takes_it(world: World) -> None:
    world.start("a", args=("--method", "dev"))
    assert "Jwt is missing" in world.agents.offline("default")
    world.configuration = Configuration(here=True, login="dev", audience="osmo", roles=BUILT_IN)
    assert world.agents.offline("default") == ""


def test_an_agent_waits_for_a_control_plane_that_starts(world: World) -> None:
    world.store(world.token("one"))
    (listener, *_) = world.start("a", phase="Pending")
    assert world.agents.refusal(listener) == ""
    given = world.configuration
    world.configuration = Configuration(
        here=True, login="entra", audience="", roles=given.roles, waits="osmo-service is not available"
    )
    assert "osmo-service" in world.agents.refusal(listener)


def test_a_control_plane_elsewhere_knows_its_own_tokens(world: World) -> None:
    world.configuration = Configuration(here=False, login="entra", audience="osmo", roles=BUILT_IN)
    world.store("of its operator")
    (listener, *_) = world.start("a")
    assert (world.agents.offline("default"), world.agents.refusal(listener)) == ("", "")


def test_a_control_plane_elsewhere_needs_both_agents(world: World) -> None:
    world.configuration = Configuration(here=False, login="entra", audience="osmo", roles=BUILT_IN)
    nobody = {each: f"No {each} of it is running." for each in ("listener", "worker")}
    assert world.agents.missing("default") == nobody
    world.start("a", LISTENER_ACCOUNT)
    world.start("b", WORKER_ACCOUNT, phase="Pending")
    assert world.agents.missing("default") == {"worker": nobody["worker"]}


# The Job's Pod


class Cluster:
    """Enough of an API server for the program and for what runs it."""

    def __init__(self, server: str, objects: dict[str, Json]) -> None:
        self.server, self.objects = server, objects
        self.config = self
        self.authority, self.token = "", "of the account"
        self.statuses: list[Json] = []

    def find(self, path: str) -> Json | None:
        return self.objects.get(path)

    def request(self, method: str, path: str, body: Json | None = None) -> Json:
        if not path.startswith("/api/v1/namespaces/osmo-control-plane/serviceaccounts/osmo-token/"):
            raise ApiError(404, {})
        return {"status": {"token": self.token}}

    def as_bearer(self, token: str) -> Cluster:
        return self

    def close(self) -> None: ...

    def patch(self, path: str, body: Json, kind: str) -> Json:
        self.statuses.append(body["status"])
        return {}


@pytest.fixture
def job(world: World, tmp_path: Path) -> Iterator[tuple[TokenPods, Cluster, Json]]:
    settings = load(
        "dev-westus2",
        [Overlay("t", {"dataServices": {"source": "azure"}, "osmo": {"mode": "platform", "access": {"login": "dev"}}})],
    ).settings
    objects = osmo_token_objects(settings)
    assert objects is not None
    secret: Json = {"metadata": {"resourceVersion": "1"}}

    def answer(request: Request) -> Answer:
        return Answer(200, secret) if request.path == SECRET else world.gateway.answer(request)

    server = gateway_server.serve(answer, tmp_path)
    address = gateway_server.address(tmp_path)
    namespace = "/api/v1/namespaces/osmo-control-plane"
    password = base64.b64encode(ADMIN.encode()).decode()
    config_map: Any = objects.config_map
    cluster = Cluster(
        address,
        {
            f"{namespace}/configmaps/{config_map['metadata']['name']}": config_map,
            f"{namespace}/secrets/default-admin-secret": {"data": {"password": password}},
            f"{namespace}/services/osmo-gateway": {},
        },
    )
    pod: Json = json.loads(json.dumps(objects.job["spec"]["template"]))
    pod["metadata"] |= {"name": "osmo-token-x", "namespace": "osmo-control-plane", "uid": "u"}
    pod["spec"]["nodeName"] = "cpu-0"
    pod["status"] = {"phase": "Pending"}
    pods = [pod]
    runner = TokenPods(cluster, lambda: pods, lambda: address)  # pyright: ignore[reportArgumentType]
    yield runner, cluster, pod
    runner.close()
    server.shutdown()
    server.server_close()


def finish(runner: TokenPods, cluster: Cluster) -> Json:
    end = time.monotonic() + LIMIT
    while not cluster.statuses or "phase" not in cluster.statuses[-1] or cluster.statuses[-1]["phase"] == "Pending":
        assert time.monotonic() < end, "the Pod did not end"
        runner.run()
    return cluster.statuses[-1]


def test_the_pod_runs_the_deployed_program_with_what_it_mounts(job: tuple[TokenPods, Cluster, Json]) -> None:
    """It reaches the API server over https only, which this one does not speak: so far everything of the Pod worked."""
    runner, cluster, pod = job
    pod["spec"]["containers"][0]["args"] += ["--seconds=0"]
    status = finish(runner, cluster)
    (container,) = status["containerStatuses"]
    assert status["phase"] == "Failed"
    assert "GET /api/v1/namespaces/osmo-operator/secrets/agent-token" in container["state"]["terminated"]["message"]
    assert ADMIN not in json.dumps(status)


def test_a_pod_waits_for_the_administrators_password(job: tuple[TokenPods, Cluster, Json]) -> None:
    runner, cluster, _ = job
    path = "/api/v1/namespaces/osmo-control-plane/secrets/default-admin-secret"
    held = cluster.objects.pop(path)
    assert runner.run() is not None
    (status,) = cluster.statuses
    assert status["containerStatuses"][0]["state"]["waiting"]["reason"] == "ContainerCreating"
    cluster.objects[path] = held


def test_a_service_that_the_cluster_lacks_is_no_address(job: tuple[TokenPods, Cluster, Json]) -> None:
    runner, cluster, pod = job
    del cluster.objects["/api/v1/namespaces/osmo-control-plane/services/osmo-gateway"]
    pod["spec"]["containers"][0]["args"] += ["--seconds=0"]
    status = finish(runner, cluster)
    assert "GET /api/version: no answer" in status["containerStatuses"][0]["state"]["terminated"]["message"]


def test_a_pod_that_is_deleted_ends_its_process(job: tuple[TokenPods, Cluster, Json]) -> None:
    runner, cluster, pod = job
    pod["spec"]["containers"][0] |= {"command": [sys.executable, "-c", "import time; time.sleep(600)"], "args": []}
    assert runner.run() is not None
    pod["metadata"]["deletionTimestamp"] = "2026-11-23T00:00:00Z"
    assert runner.run() is None
    assert cluster.statuses == []
