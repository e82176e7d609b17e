"""A user of OSMO who logs in with Entra ID and sends requests to the gateway, as OSMO's command line does."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

import httpx

from simulator.entra import Principal
from simulator.errors import SimulationError
from simulator.osmo.control import tokens
from simulator.osmo.control.login import id_token

SECONDS = 30.0


class Refused(SimulationError):
    """Error if the gateway or the service refuses a request. `code`: HTTP status, 0 if there was no answer."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


class User:
    """A user of the simulated tenant who sends requests to the gateway of one control plane.

    Args:
        address: Address of the gateway.
        simulation: The simulation's folder, with the key of the simulated Entra ID.
        dropped: Reason why Azure drops the user's packets to the gateway; empty if Azure lets the packets through.
    """

    def __init__(self, address: str, simulation: Path, principal: Principal, dropped: str = "") -> None:
        self.address, self._simulation, self.principal, self._dropped = address, simulation, principal, dropped
        self._audience = ""

    def submit(self, pool: str, text: str) -> tuple[str, ...]:
        """Submits a workflow; returns the roles that allowed it. Raises Refused."""
        answer = self._request("POST", f"/api/pool/{pool}/workflow", {"file": text})
        return tuple(str(each) for each in answer.get("roles") or ())

    def missing(self, pool: str) -> dict[str, str]:
        """The agents that the pool's backend lacks, and the reason for each. Raises Refused."""
        found = self._request("GET", f"/api/pool?pools={quote(pool)}")
        return dict(cast("dict[str, str]", found["pools"][pool]["missing"]))

    def _request(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        if not self._audience:
            self._audience = str(self._send("GET", "/api/auth/login").get("browser_client_id", ""))
        token = id_token(self.principal, self._audience, tokens.key_in(self._simulation))
        return self._send(method, path, body, {"Authorization": f"Bearer {token}"})

    def _send(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> dict[str, Any]:
        if not self.address:
            raise Refused(
                0,
                "this simulation's control plane runs without OSMO's gateway, as an earlier version started it; run"
                " `physai down` with the stack's name, and then the command again",
            )
        if self._dropped:
            raise Refused(0, f"OSMO's gateway does not answer: {self._dropped}")
        try:
            with httpx.Client(trust_env=False, timeout=SECONDS) as client:
                answer = client.request(method, f"{self.address}{path}", json=body, headers=headers)
                found: Any = answer.json()
        except (httpx.HTTPError, ValueError) as problem:
            raise Refused(0, f"OSMO's gateway at {self.address} does not answer: {problem}") from None
        document = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
        if answer.is_error:
            reason = str(document.get("message") or document.get("detail") or "no reason")
            raise Refused(answer.status_code, f"OSMO refuses {self.principal.name}: {answer.status_code} {reason}")
        return document
