"""OSMO's service and the API server, both with faults, for tests of the program that creates the token of OSMO's
agents.
"""

from __future__ import annotations

import base64
import datetime
from dataclasses import dataclass, field
from pathlib import Path

from json_http import Server
from osmo_token.minting import Wanted, check, ensure
from osmo_token.secret import TOKEN, TokenSecret
from osmo_token.service import Service
from simulator.osmo.control import gateway_server
from simulator.osmo.control.accounts import Accounts
from simulator.osmo.control.configuration import Configuration
from simulator.osmo.control.gateway import Answer, Gateway, Request, Surroundings
from simulator.osmo.control.policies import BUILT_IN

ADMIN = "a" * 43
TODAY = datetime.date(2026, 11, 23)
USER = "backend-default"
SECRET = "/api/v1/namespaces/osmo-operator/secrets/agent-token"


@dataclass
class World:
    """OSMO's service and the API server, behind one address. A request that matches one of `faults` by method and path
    gets its answer, once.
    """

    folder: Path
    data: dict[str, str] = field(default_factory=dict[str, str])
    notes: dict[str, str] = field(default_factory=dict[str, str])
    version: int = 1
    faults: list[tuple[str, str, Answer]] = field(default_factory=list[tuple[str, str, Answer]])
    asked: list[str] = field(default_factory=list[str])
    day: datetime.date = TODAY

    def __post_init__(self) -> None:
        configuration = Configuration(here=True, login="entra", audience="osmo", roles=BUILT_IN)
        self.accounts = Accounts(self.folder, frozenset, lambda: self.day)
        around = Surroundings(lambda: configuration, lambda: ADMIN, lambda backend: {})
        self.gateway = Gateway(self.accounts, b"key", around)

    def answer(self, request: Request) -> Answer:
        self.asked.append(f"{request.method} {request.path}")
        for index, (method, path, answer) in enumerate(self.faults):
            if request.method == method and path in request.path:
                del self.faults[index]
                return answer
        return self._secret(request) if request.path == SECRET else self.gateway.answer(request)

    def _secret(self, request: Request) -> Answer:
        if request.method == "PATCH":
            if request.body["metadata"]["resourceVersion"] != str(self.version):
                return Answer(409, {"message": "the object has been modified"})
            _merge(self.notes, request.body["metadata"]["annotations"])
            _merge(self.data, request.body.get("data", {}))
            self.version += 1
        metadata = {"annotations": self.notes, "resourceVersion": str(self.version)}
        return Answer(200, {"metadata": metadata, "data": self.data})

    def held(self, key: str = TOKEN) -> str:
        return base64.b64decode(self.data.get(key, "")).decode()


def _merge(target: dict[str, str], change: dict[str, str | None]) -> None:
    for key, value in change.items():
        if value is None:
            target.pop(key, None)
        else:
            target[key] = value


@dataclass
class Run:
    world: World
    url: str
    lines: list[str] = field(default_factory=list[str])

    def service(self) -> Service:
        service = Service(self.url, lambda: ADMIN)
        service.log_in()
        return service

    def secret(self) -> TokenSecret:
        return TokenSecret(Server(self.url), "osmo-operator", "agent-token")

    def ensure(self, rotation: str = "1", days: int = 180) -> None:
        wanted = Wanted(USER, f"default-{rotation}", days, 30)
        ensure(self.service(), self.secret(), wanted, self.world.day, self.lines.append)

    def check(self, warn_days: int = 30) -> str:
        return check(self.service(), self.secret(), Wanted(USER, "default-1", 180, warn_days), self.world.day)

    def names(self) -> list[str]:
        return [str(each["token_name"]) for each in self.world.accounts.tokens(USER)]


class Door:
    """Server with one address for all tests. It passes requests to the world of the test that runs."""

    def __init__(self, folder: Path) -> None:
        self.world: World | None = None
        self.server = gateway_server.serve(self._answer, folder)
        self.url = gateway_server.address(folder)

    def _answer(self, request: Request) -> Answer:
        assert self.world is not None
        return self.world.answer(request)
