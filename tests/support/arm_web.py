"""The real client of Azure Resource Manager, which reaches the simulator's ARM instead of Azure."""

from __future__ import annotations

import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests
from azure.core.credentials import AccessToken
from azure.core.pipeline.transport import RequestsTransport
from requests.adapters import HTTPAdapter

from physical_ai.servers.adapter import bounded_session
from physical_ai.subscription.answers import Unanswered
from physical_ai.subscription.rest import ARM, Exchange, Get
from simulator.azure import Cloud, Directory, StandingRole
from simulator.azure.questions import Questions
from simulator.azure.restrictions import NAMES, Restrictions
from simulator.azure.roles import guid_of
from simulator.azure.web import ArmWeb, Fault, Login
from tests.support.azure_fakes import MemoryHost
from workbench.cli.azure_login import Reached
from workbench.preflight import AzureRest, login
from workbench.preflight.kept_answers import Kept
from workbench.verdict.asking import Arm, NoAnswer

SUBSCRIPTION = Directory().subscription
OWNER, READER = Directory().deployer, "55555555-5555-4555-8555-555555555555"
PIPELINE = "66666666-6666-4666-8666-666666666666"
"""Principal without a role, unless `world` gives it some."""
TENANT = Directory().tenant


class Rerouted(HTTPAdapter):
    """Adapter that sends requests for Azure's address to another address. Headers, with the token, stay as they are."""

    def __init__(self, there: str) -> None:
        self._there = there
        super().__init__()

    def send(self, request: requests.PreparedRequest, *given: Any, **named: Any) -> requests.Response:
        assert request.url is not None
        request.url = request.url.replace(ARM, self._there, 1)
        assert request.url.startswith(self._there)
        return super().send(request, *given, **{**named, "verify": False})


class Credential:
    """Login whose token is always the name of its user."""

    def __init__(self, who: str = "owner") -> None:
        self._token = who

    def get_token(self, *scopes: str, **kwargs: Any) -> AccessToken:
        return AccessToken(self._token, int(time.time()) + 3600)


@dataclass
class World:
    """Simulated subscription behind HTTP, with clients that reach it."""

    web: ArmWeb
    address: str

    def exchange(self, who: str = "owner") -> Exchange:
        return login.connect_to_change(Credential(who), self._transport())

    def get(self, who: str = "owner") -> Get:
        return login.connect(Credential(who), self._transport())

    def arm(self, who: str = "owner") -> Arm:
        """Client that does not pause between two questions to Azure."""
        exchange = self.exchange(who)

        def asked(
            method: str, path: str, parameters: Mapping[str, str], body: Any
        ) -> tuple[int, Any, Mapping[str, str]]:
            try:
                return exchange(method, path, parameters, body)
            except Unanswered as problem:
                raise NoAnswer(str(problem)) from None

        return Arm(asked, SUBSCRIPTION, sleep=lambda seconds: None)

    def _transport(self) -> Any:
        session = bounded_session(login.BOUNDS)
        session.mount(ARM, Rerouted(self.address))
        return _Impatient(session=session, session_owner=False)

    def fault(self, *faults: Fault) -> None:
        self.web.faults.extend(faults)


class _Impatient(RequestsTransport):
    """Transport that does not pause between two attempts."""

    def sleep(self, duration: float) -> None: ...


@contextmanager
def world(folder: Path, **questions: Any) -> Generator[World]:
    """Simulated subscription without resources. `owner` may do everything in it, and `reader` may only read.

    `questions`: options of `Questions` and `Cloud`, and restrictions of the subscription.
    """
    cloud_options = {name: questions.pop(name) for name in ("quota", "taken", "clock") if name in questions}
    cloud_options["restrictions"] = Restrictions(**{name: questions.pop(name) for name in NAMES if name in questions})
    closed, faults = questions.pop("foreign", ()), questions.pop("faults", ())
    roles = (StandingRole(READER, guid_of("Reader")), *questions.pop("roles", ()))
    principals = {READER: "User", PIPELINE: "ServicePrincipal"}
    directory = Directory(principals=principals, roles=roles, closed=closed)
    cloud = Cloud(folder / "azure.json", MemoryHost(), directory=directory, **cloud_options)
    tenant = "The access token is from the wrong issuer 'https://sts.windows.net/9/'. It must match the tenant"
    logins = {
        "owner": Login(OWNER),
        "reader": Login(READER),
        "pipeline": Login(PIPELINE),
        "expired": Login(refused=("ExpiredAuthenticationToken", "The access token expiry is earlier than now.")),
        "other": Login(refused=("InvalidAuthenticationTokenTenant", f"{tenant} '{TENANT}' of this subscription.")),
    }
    web = ArmWeb(Questions(cloud, **questions), logins, list(faults))
    server, address = web.serve()
    try:
        yield World(web, address)
    finally:
        server.shutdown()
        server.server_close()


def reached(azure: World, folder: Path, who: str = "owner") -> Reached:
    """The simulated subscription as the command `check` reaches it, with answers kept in a folder."""
    kept = Kept(azure.get(who), folder)
    exchange = azure.exchange(who)
    return Reached(AzureRest(kept, SUBSCRIPTION, exchange), SUBSCRIPTION, kept, exchange)
