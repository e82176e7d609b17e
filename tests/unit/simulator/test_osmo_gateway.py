"""The stand-in's gateway: who may send what, by the login and the roles that a stack declares."""

from __future__ import annotations

import base64
import datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from physical_ai.planning.service_chart.gateway import service_routes
from physical_ai.settings.models.osmo_access import GatewayLimits
from simulator.cluster.objects import Json
from simulator.entra import BYSTANDER, DEPLOYER, DEPLOYERS, READER, Principal
from simulator.osmo.control import configuration, tokens
from simulator.osmo.control.accounts import FILE, Accounts, UserError
from simulator.osmo.control.admin_password import AdminPassword
from simulator.osmo.control.configuration import APPLICATION
from simulator.osmo.control.gateway import Answer, Gateway, Request, Surroundings
from simulator.osmo.control.interactive import Running
from simulator.osmo.control.login import id_token
from simulator.osmo.control.policies import BUILT_IN, allowed, mapped, roles_of
from simulator.osmo.control.user import Refused, User

DEPLOYMENTS = "/apis/apps/v1/namespaces/osmo-control-plane/deployments"
KEY, ADMIN, NOW = b"k" * 32, "a" * 43, 1_800_000_000.0
SUBMIT = "/api/pool/default/workflow"
POOLS = {"pools.yaml": yaml.safe_dump({"services": {"configs": {"pools": {"default": {"backend": "default"}}}}})}


class Stack:
    """A cluster's objects by path, and the gateway in front of them."""

    def __init__(
        self, folder: Path, roles: dict[str, Any] | None = None, listener: dict[str, Any] | None = None
    ) -> None:
        """A control plane elsewhere; with `listener`, the gateway's configuration, one in the cluster."""
        config_maps = "/api/v1/namespaces/osmo-control-plane/configmaps"
        self.objects: dict[str, Json] = {f"{config_maps}/osmo-service-values": {"data": POOLS}}
        if listener is not None:
            config = {"pools": {"default": {"backend": "default"}}, "roles": roles or {}}
            self.objects |= {
                f"{config_maps}/osmo-service-configs": {"data": {"config.yaml": yaml.safe_dump(config)}},
                f"{config_maps}/osmo-gateway-envoy-config": {"data": {"lds.yaml": yaml.safe_dump(listener)}},
                **{f"{DEPLOYMENTS}/{name}": {"status": {"availableReplicas": 1}} for name in configuration.PROCESSES},
            }
        self.missing: dict[str, str] = {}
        self.workflows: dict[str, Running] = {}
        self.accounts = Accounts(folder, frozenset)
        around = Surroundings(
            lambda: configuration.declared(self.objects.get),
            lambda: ADMIN,
            lambda backend: self.missing,
            self.workflows.get,
        )
        self.now = NOW
        self.gateway = Gateway(self.accounts, KEY, around, lambda: self.now)

    def send(self, method: str, path: str, token: str = "", body: Any = None, **headers: str) -> Answer:
        sent = {"authorization": f"Bearer {token}"} if token else {}
        sent |= {key.replace("_", "-"): value for key, value in headers.items()}
        return self.gateway.answer(Request(method, path, {}, sent, body))

    def submit(self, principal: Principal, audience: str = APPLICATION) -> Answer:
        return self.send("POST", SUBMIT, id_token(principal, audience, KEY))

    def session(self, access_token: str) -> str:
        answer = self.send("POST", "/api/auth/jwt/access_token", body={"token": access_token})
        assert answer.code == 200, answer.document
        return answer.document["token"]


@pytest.fixture
def stack(tmp_path: Path) -> Stack:
    return Stack(tmp_path)


def test_a_user_with_a_role_submits(stack: Stack) -> None:
    assert stack.submit(DEPLOYER) == Answer(200, {"submitted_by": "deployer", "roles": ["osmo-user"]})


@pytest.mark.parametrize("principal", [BYSTANDER, READER])
def test_a_user_of_the_tenant_without_a_role_is_refused(stack: Stack, principal: Principal) -> None:
    answer = stack.submit(principal)
    assert answer.code == 403
    assert f"{principal.name} has no role, which does not allow workflow:Create on pool/default" in str(answer.document)


def test_a_request_without_a_login_is_refused_everywhere_but_where_health_and_login_are(stack: Stack) -> None:
    assert stack.send("POST", SUBMIT) == Answer(401, {"message": "Jwt is missing"})
    assert stack.send("GET", "/api/auth/user/admin").code == 401
    assert stack.send("GET", "/api/anything").code == 401
    assert [stack.send("GET", path).code for path in ("/health", "/api/version", "/api/auth/login")] == [200] * 3


def test_a_header_that_names_a_user_counts_for_nothing(stack: Stack) -> None:
    assert stack.send("POST", SUBMIT, x_osmo_user="admin", x_osmo_roles="osmo-admin").code == 401
    sent = stack.send("POST", SUBMIT, id_token(BYSTANDER, APPLICATION, KEY), x_osmo_roles="osmo-admin")
    assert sent.code == 403


def test_the_development_login_treats_every_caller_as_an_administrator(tmp_path: Path) -> None:
    stack = Stack(tmp_path, listener={"default_identity": {"user": "admin"}})
    assert stack.send("POST", SUBMIT).document["roles"] == ["osmo-admin"]
    assert stack.submit(BYSTANDER).document["roles"] == ["osmo-admin"]


@pytest.mark.parametrize(
    ("token", "reason"),
    [
        (id_token(DEPLOYER, APPLICATION, b"another"), "verification fails"),
        (id_token(DEPLOYER, APPLICATION, KEY, NOW - 1e9), "expired"),
        (id_token(DEPLOYER, "another-application", KEY), "Audiences"),
        ("a.b", "form"),
        (tokens.sign({"iss": "https://other", "exp": 1e11}, KEY), "issuer"),
    ],
    ids=["signature", "expired", "audience", "form", "issuer"],  # all workers need the same, whenever they begin
)
def test_a_token_of_another_kind_is_no_login(stack: Stack, token: str, reason: str) -> None:
    answer = stack.send("POST", SUBMIT, token)
    assert answer.code == 401
    assert reason in answer.document["message"]


def test_groups_have_the_roles_that_the_stack_gives_them(tmp_path: Path) -> None:
    roles = {"osmo-admin": {"external_roles": [DEPLOYERS.object_id]}}
    providers = [
        {"issuer": "https://login.microsoftonline.com/t/v2.0", "audience": "mine"},
        {"issuer": "osmo", "audience": "osmo"},
    ]
    stack = Stack(tmp_path, roles, {"providers": providers})
    assert stack.submit(DEPLOYER, "mine").document["roles"] == ["osmo-admin"]
    assert stack.submit(DEPLOYER).code == 401  # a token for another application
    # A control plane of the stack's own maps only what the stack says.
    assert Stack(tmp_path, listener={"providers": []}).submit(DEPLOYER).code == 403


def test_too_many_requests_of_one_caller_are_refused_for_a_minute(tmp_path: Path) -> None:
    routes = service_routes(GatewayLimits(requests_per_minute=10))
    stack = Stack(tmp_path, listener={"providers": [], "routes": routes})
    token = id_token(DEPLOYER, APPLICATION, KEY)
    codes = [stack.send("POST", SUBMIT, token).code for _ in range(11)]
    assert (codes[:10], codes[10]) == ([403] * 10, 429)
    assert stack.send("POST", SUBMIT, id_token(BYSTANDER, APPLICATION, KEY)).code == 403
    assert [stack.send("GET", "/api/version").code for _ in range(11)] == [200] * 10 + [429]
    stack.now += 60
    assert stack.send("POST", SUBMIT, token).code == 403
    unlimited = Stack(tmp_path, listener={"routes": service_routes(GatewayLimits(requests_per_minute=0))})
    assert {unlimited.send("GET", "/api/version").code for _ in range(20)} == {200}


@pytest.mark.parametrize("process", configuration.PROCESSES)
def test_nothing_answers_before_service_and_gateway_run(tmp_path: Path, process: str) -> None:
    stack = Stack(tmp_path, listener={})
    stack.objects[f"{DEPLOYMENTS}/{process}"] = {"status": {}}
    message = f"no healthy upstream: {process} is not available"
    assert stack.send("GET", "/api/version") == Answer(503, {"message": message})


def test_a_pool_whose_backend_is_not_connected_is_offline_and_takes_workflows(stack: Stack) -> None:
    """6.3.1 refuses them for maintenance only; they wait."""
    assert stack.submit(DEPLOYER).code == 200
    token = id_token(DEPLOYER, APPLICATION, KEY)
    online = {"status": "ONLINE", "missing": {}}
    assert stack.send("GET", "/api/pool", token).document == {"pools": {"default": online}}
    stack.missing = {"worker": "Access Token has expired"}
    assert stack.submit(DEPLOYER).code == 200
    assert stack.send("GET", "/api/pool", token).document["pools"]["default"] == {
        "status": "OFFLINE",
        "missing": stack.missing,
    }
    admin = stack.session(ADMIN)
    answer = stack.send("GET", "/api/configs/backend/default", admin)
    assert answer.document == {"name": "default", "online": False, "message": "Access Token has expired"}


def test_an_unknown_pool_is_a_users_error(stack: Stack) -> None:
    admin = stack.session(ADMIN)
    answer = stack.send("POST", "/api/pool/other/workflow", admin)
    assert (answer.code, answer.document["message"]) == (400, "Pool other does not exist")


def test_a_user_enters_a_running_task_where_the_backend_has_a_router(tmp_path: Path) -> None:
    stack = Stack(tmp_path, {"osmo-user": {"external_roles": [DEPLOYERS.object_id]}}, {"providers": []})
    stack.workflows["w-1"] = Running("default", {"train": "Running"})
    path, token = "/api/workflow/w-1/exec/task/train", id_token(DEPLOYER, APPLICATION, KEY)
    answer = stack.send("POST", path, token)
    assert answer == Answer(500, {"message": "Internal server error: Backend default has no router!"})
    (file,) = (item["data"] for item in stack.objects.values() if "config.yaml" in item.get("data", {}))
    config = {**yaml.safe_load(file["config.yaml"]), "backends": {"default": {"router_address": "wss://osmo.test"}}}
    file["config.yaml"] = yaml.safe_dump(config)
    assert stack.send("POST", path, token).document["router_address"] == "wss://osmo.test"
    assert stack.send("POST", path, id_token(BYSTANDER, APPLICATION, KEY)).code == 403


def test_only_an_administrator_creates_users_and_tokens(stack: Stack) -> None:
    body = {"id": "backend-default", "roles": ["osmo-backend"]}
    assert stack.send("POST", "/api/auth/user", id_token(DEPLOYER, APPLICATION, KEY), body).code == 403
    admin = stack.session(ADMIN)
    assert stack.send("POST", "/api/auth/user", admin, body).code == 200
    again = stack.send("POST", "/api/auth/user", admin, body)
    assert (again.code, again.document["message"]) == (400, "User backend-default already exists")
    assert stack.send("POST", "/api/auth/user", admin, {"id": "x", "roles": ["no-role"]}).code == 400


def test_an_agent_may_neither_submit_nor_create_tokens(stack: Stack) -> None:
    stack.accounts.create_user("backend", ["osmo-backend"], "admin")
    value = stack.accounts.create_token("backend", "one", _in(10), "", ["osmo-backend"])
    agent = stack.session(value)
    assert stack.send("POST", SUBMIT, agent).code == 403
    assert stack.send("POST", "/api/auth/user", agent, {"id": "me"}).code == 403
    assert stack.send("GET", "/api/configs/backend/default", agent).code == 200


def test_the_database_has_no_token_and_outlives_the_process(tmp_path: Path) -> None:
    before = Accounts(tmp_path, frozenset)
    before.create_user("backend", ["osmo-backend"], "admin")
    value = before.create_token("backend", "one", _in(10), "", ["osmo-backend"])
    assert value not in (tmp_path / FILE).read_text()
    assert (tmp_path / FILE).stat().st_mode & 0o077 == 0
    assert Accounts(tmp_path, frozenset).who(value) == ("backend", ["osmo-backend"])


@pytest.mark.parametrize(
    ("name", "expires", "roles", "reason"),
    [
        ("1-bad", 10, ["osmo-backend"], "must match regex"),
        ("one", 366, ["osmo-backend"], "more than 365d"),
        ("one", 0, ["osmo-backend"], "past the current date"),
        ("one", 10, ["osmo-admin"], "does not have all the requested roles"),
        ("taken", 10, ["osmo-backend"], "already exists"),
    ],
)
def test_a_token_is_refused_as_the_service_refuses_it(
    tmp_path: Path, name: str, expires: int, roles: list[str], reason: str
) -> None:
    accounts = Accounts(tmp_path, frozenset)
    accounts.create_user("backend", ["osmo-backend"], "admin")
    accounts.create_token("backend", "taken", _in(10), "", ["osmo-backend"])
    with pytest.raises(UserError, match=reason):
        accounts.create_token("backend", name, _in(expires), "", roles)


def test_an_expired_or_unknown_token_is_refused(tmp_path: Path) -> None:
    day = datetime.date(2026, 11, 23)
    accounts = Accounts(tmp_path, frozenset, lambda: day)
    accounts.create_user("backend", ["osmo-backend"], "admin")
    value = accounts.create_token("backend", "one", "2026-11-25", "", ["osmo-backend"])
    assert accounts.who(value)[0] == "backend"
    day = datetime.date(2026, 11, 25)
    with pytest.raises(UserError, match="has expired"):
        accounts.who(value)
    with pytest.raises(UserError, match="is invalid"):
        accounts.who("x" * 43)
    with pytest.raises(UserError, match="invalid length 3"):
        accounts.who("abc")


def test_a_deny_wins_over_every_allow() -> None:
    roles = roles_of(
        {
            "reader": {"policies": [{"actions": ["*:Read"], "resources": ["*"]}]},
            "closed": {"policies": [{"effect": "Deny", "actions": ["workflow:*"], "resources": ["pool/default"]}]},
        }
    )
    assert allowed(roles, ["osmo-user"], "workflow:Create", "pool/default")
    assert not allowed(roles, ["osmo-user", "closed"], "workflow:Create", "pool/default")
    assert not allowed(roles, ["osmo-user"], "workflow:Create", "pool/h100")
    assert not allowed(roles, [], "workflow:Create", "pool/default")
    assert mapped(BUILT_IN, ["osmo-user", "other"]) == ["osmo-user"]


def test_the_signing_key_is_made_once_and_private(tmp_path: Path) -> None:
    key = tokens.key_in(tmp_path)
    assert (len(key), tokens.key_in(tmp_path)) == (32, key)
    (file,) = tmp_path.iterdir()
    assert file.stat().st_mode & 0o077 == 0


def _in(days: int) -> str:
    return (datetime.datetime.now(datetime.UTC).date() + datetime.timedelta(days=days)).isoformat()


def test_a_control_plane_of_an_earlier_version_is_named_as_the_reason(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="an earlier version started it; run `physai down`"):
        User("", tmp_path, DEPLOYER).submit("default", "")


def test_another_password_of_the_administrator_counts_after_a_start_of_the_service() -> None:
    class Cluster:
        pods, value = ["a"], "first"

        def get(self, path: str, selector: Any) -> Any:
            return {"items": [{"metadata": {"uid": uid}, "status": {"phase": "Running"}} for uid in self.pods]}

        def find(self, path: str) -> Any:
            return {"data": {"password": base64.b64encode(self.value.encode()).decode()}}

    cluster: Any = Cluster()
    password = AdminPassword(cluster)
    assert password() == "first"
    cluster.value = "second"
    assert password() == "first"
    cluster.pods = ["b"]
    assert password() == "second"
