"""The simulated gateway of OSMO and the service behind it, which identify the caller of a request, check the caller's
roles, and answer.

Envoy refuses a request with 429 if the caller has sent too many requests, and with 401 if the token is not valid. The
authorization service refuses a request with 403 if no policy allows it. The service answers an error of the user with
400 and a text under `message`.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from simulator.osmo.control import interactive, policies, tokens
from simulator.osmo.control.accounts import Accounts, UserError
from simulator.osmo.control.configuration import Configuration
from simulator.osmo.control.login import Caller, caller_of, service_token

OPEN = ("/api/version", "/health", "/api/auth/login", "/api/auth/jwt/access_token", "/client/version")
"""Paths of the simulated gateway that need no login (`gateway.envoy.skipAuthPaths` of the chart; paths that the
simulator lacks are left out).
"""
LARGEST_BODY = 32 << 20
VERSION = {"major": "6", "minor": "3", "revision": "1"}
_USER = r"/api/auth/user/(?P<user>[^/]+)"
_TOKEN = rf"{_USER}/access_token/(?P<name>[^/]+)"
_POOL = r"/api/pool/(?P<pool>[^/]+)/workflow"
_BACKEND = r"/api/configs/backend/(?P<backend>[^/]+)"


@dataclass(frozen=True)
class Request:
    """Request to the gateway, with header names in lower case and a parsed body."""

    method: str
    path: str
    query: Mapping[str, list[str]]
    headers: Mapping[str, str]
    body: Any = None

    def one(self, name: str, default: str = "") -> str:
        return (self.query.get(name) or [default])[0]

    def field(self, name: str) -> Any:
        body: Any = self.body
        return cast("dict[str, Any]", body).get(name) if isinstance(body, dict) else None


@dataclass(frozen=True)
class Answer:
    code: int
    document: Any


Handler = Callable[["Gateway", Request, Mapping[str, str], Caller], Any]


@dataclass(frozen=True)
class Surroundings:
    """Functions that the gateway calls for each request to read the present state of the cluster."""

    configuration: Callable[[], Configuration]
    admin_password: Callable[[], str]
    """Function that returns the password of the default administrator; empty if there is none."""
    missing: Callable[[str], Mapping[str, str]]
    """Function that returns the agents of a backend that are not connected, with the reason for each."""
    workflow: interactive.Look = lambda workflow: None
    """Function that returns the state of a workflow from its Pods in the cluster; None if the workflow has no Pods."""


class Requests:
    """Number of requests of each caller in the current minute. Only one count is kept, as if Envoy had a single
    thread.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock, self._minute, self._seen = clock, 0, Counter[str]()

    def count(self, headers: Mapping[str, str]) -> int:
        minute = int(self._clock() // 60)
        if minute != self._minute:
            self._minute, self._seen = minute, Counter[str]()
        scheme, _, token = headers.get("authorization", "").partition(" ")
        # All callers without a login count as one: they share the address of this machine.
        caller = token[-64:] if scheme == "Bearer" else ""
        self._seen[caller] += 1
        return self._seen[caller]


class Gateway:
    def __init__(
        self, accounts: Accounts, key: bytes, around: Surroundings, clock: Callable[[], float] = time.time
    ) -> None:
        self.accounts, self.around, self._key = accounts, around, key
        self._requests = Requests(clock)

    def answer(self, request: Request) -> Answer:
        try:
            return self._answer(request)
        except UserError as refusal:
            return Answer(400, {"message": str(refusal), "error_code": "USER"})
        except interactive.Refusal as refusal:
            return Answer(refusal.code, {"message": str(refusal)})
        except tokens.Invalid as problem:
            return Answer(401, {"message": str(problem)})

    def _answer(self, request: Request) -> Answer:
        configuration = self.around.configuration()
        if configuration.waits:
            return Answer(503, {"message": f"no healthy upstream: {configuration.waits}"})
        most = configuration.requests_per_minute
        if most and self._requests.count(request.headers) > most:
            return Answer(429, {"message": f"More than {most} requests a minute"})
        if request.path in OPEN:
            return self._open(request)
        caller = self._caller(request, configuration)
        for method, pattern, action, resource, handle in ROUTES:
            match = re.fullmatch(pattern, request.path)
            if match is None or method != request.method:
                continue
            given = match.groupdict()
            scope = resource.format(**given)
            names = [*caller.roles, *policies.mapped(configuration.roles, caller.external)]
            if not policies.allowed(configuration.roles, names, action, scope):
                has = ", ".join(names) or "no role"
                return Answer(403, {"message": f"{caller.user} has {has}, which does not allow {action} on {scope}"})
            return Answer(200, handle(self, request, given, Caller(caller.user, tuple(names))))
        return Answer(404, {"detail": "Not Found"})

    def _open(self, request: Request) -> Answer:
        if request.path == "/api/auth/jwt/access_token":
            if request.method != "POST":
                return Answer(405, {"detail": "Method Not Allowed"})
            user, roles = self.who(str(request.field("token") or ""))
            token, end = service_token(user, roles, self._key)
            return Answer(200, {"token": token, "expires_at": end})
        if request.path == "/api/auth/login":
            return Answer(200, {"browser_client_id": self.around.configuration().audience})
        return Answer(200, VERSION if "version" in request.path else {"status": "ok"})

    def who(self, token: str) -> tuple[str, list[str]]:
        """Name and roles of the user to whom an access token belongs. Raises UserError."""
        if token and token == self.around.admin_password():
            return "admin", [policies.ADMIN]
        return self.accounts.who(token)

    def _caller(self, request: Request, configuration: Configuration) -> Caller:
        """Caller of a request. Raises tokens.Invalid.

        Headers that name a user count only with the development login, which checks no token.
        """
        if configuration.login == "dev":
            return Caller(request.headers.get("x-osmo-user", "admin"), (policies.ADMIN,))
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme == "Bearer":
            return caller_of(token, configuration.audience, self._key)
        raise tokens.Invalid("Jwt is missing")


def _submit(gateway: Gateway, request: Request, given: Mapping[str, str], caller: Caller) -> Any:
    """Accepts a workflow and returns the caller's name and roles. The command that submits the workflow then runs it in
    place of the service's worker.

    Workflows for offline pools are accepted, too: the real service refuses only pools in maintenance (NVIDIA/OSMO 6.3.1
    src/service/core/workflow/objects.py).
    """
    if given["pool"] not in gateway.around.configuration().pools:
        raise UserError(f"Pool {given['pool']} does not exist")
    return {"submitted_by": caller.user, "roles": list(caller.roles)}


def _pools(gateway: Gateway, request: Request, given: Mapping[str, str], caller: Caller) -> Any:
    """The pools that the request asks for; all pools if it names none.

    The field `missing` of a pool lists the agents that are not connected; the real service has no such field.
    """
    pools = gateway.around.configuration().pools
    asked = request.query.get("pools") or list(pools)
    missing = {name: gateway.around.missing(str(pools[name].get("backend", ""))) for name in asked if name in pools}
    found = {name: {"status": "OFFLINE" if each else "ONLINE", "missing": dict(each)} for name, each in missing.items()}
    return {"pools": found}


def _backend(gateway: Gateway, request: Request, given: Mapping[str, str], caller: Caller) -> Any:
    problem = next(iter(gateway.around.missing(given["backend"]).values()), "")
    return {"name": given["backend"], "online": not problem, "message": problem}


def _session(call: str) -> Handler:
    def answer(gateway: Gateway, request: Request, given: Mapping[str, str], caller: Caller) -> Any:
        configs, look = gateway.around.configuration().file, gateway.around.workflow
        return interactive.session(
            call, given["name"], given["task"], look=look, configs=configs, entry=dict(request.query)
        )

    return answer


def _sessions() -> list[tuple[str, str, str, str, Handler]]:
    """Routes of interactive sessions. They require rights on all pools.

    The reason: a workflow's pool is only in the database, and with a configuration file the authorization service has
    no database (NVIDIA/OSMO 6.3.1 src/utils/roles/action_registry.go, extractWorkflowPoolResource).
    """
    return [
        ("POST", re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", row["path"]), row["action"], "pool/*", _session(call))
        for call, row in interactive.facts()["actions"].items()
    ]


def _create_token(gateway: Gateway, request: Request, given: Mapping[str, str], caller: Caller) -> Any:
    roles = request.query.get("roles") or []
    expires, description = request.one("expires_at"), request.one("description")
    return gateway.accounts.create_token(given["user"], given["name"], expires, description, roles)


def _create_user(gateway: Gateway, request: Request, given: Mapping[str, str], caller: Caller) -> Any:
    return gateway.accounts.create_user(str(request.field("id")), list(request.field("roles") or []), caller.user)


ROUTES: tuple[tuple[str, str, str, str, Handler], ...] = (
    ("POST", "/api/auth/user", "user:Create", "*", _create_user),
    ("GET", _USER, "user:Read", "*", lambda self, request, given, caller: self.accounts.user(given["user"])),
    (
        "POST",
        f"{_USER}/roles",
        "user:Update",
        "*",
        lambda self, request, given, caller: self.accounts.assign(
            given["user"], str(request.field("role_name")), caller.user
        ),
    ),
    (
        "GET",
        f"{_USER}/access_token",
        "user:Token",
        "*",
        lambda self, request, given, caller: self.accounts.tokens(given["user"]),
    ),
    ("POST", _TOKEN, "user:Token", "*", _create_token),
    (
        "DELETE",
        _TOKEN,
        "user:Token",
        "*",
        lambda self, request, given, caller: self.accounts.delete_token(given["user"], given["name"]),
    ),
    ("POST", _POOL, "workflow:Create", "pool/{pool}", _submit),
    ("GET", "/api/pool", "pool:List", "*", _pools),
    ("GET", _BACKEND, "config:Read", "*", _backend),
    *_sessions(),
)
"""Routes: method, path, action, resource, and the service's handler. The names of actions on users are not verified for
6.3; they matter little, because only an administrator may do these actions.
"""
