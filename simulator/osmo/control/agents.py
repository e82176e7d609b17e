"""Connection state of the agents of this cluster's backend: an agent is connected if the control plane accepts the
agent's token.

An agent reads its token when its container starts (the chart mounts the file by `subPath`), and exchanges it for a JWT
every five minutes.
"""

from __future__ import annotations

import base64
import itertools
import threading
from collections.abc import Callable, Iterable, Mapping

from simulator.cluster.objects import Json, at, is_terminating
from simulator.osmo.control.accounts import UserError
from simulator.osmo.control.configuration import Configuration, Find
from simulator.osmo.control.policies import BACKEND
from simulator.osmo_names import LISTENER_ACCOUNT, OPERATOR_NAMESPACE, TOKEN_KEY, TOKEN_SECRET, WORKER_ACCOUNT

AGENTS = {LISTENER_ACCOUNT: "listener", WORKER_ACCOUNT: "worker"}
SECRET = f"/api/v1/namespaces/{OPERATOR_NAMESPACE}/secrets/{TOKEN_SECRET}"
Who = Callable[[str], tuple[str, list[str]]]
"""Function that returns the name and the roles of the user to whom an access token belongs. Raises UserError."""


class Agents:
    """Connection state of OSMO's agents.

    Args:
        pods: Function that returns the Pods in the agents' namespace.
        find: Function that reads an object of the cluster.
        who: Function of the gateway that checks an access token.
    """

    def __init__(
        self, pods: Callable[[], Iterable[Json]], find: Find, configuration: Callable[[], Configuration], who: Who
    ) -> None:
        self._pods, self._find, self._configuration, self._who = pods, find, configuration, who
        self._lock = threading.Lock()
        self._tokens: dict[str, str] = {}
        """Token that each agent's container has read, by the Pod's uid."""

    def look(self) -> None:
        """Records the tokens that newly started containers of agents have read."""
        running = [pod for pod in self._pods() if _agent(pod) and at(pod, "status.phase") == "Running"]
        with self._lock:
            known = dict(self._tokens)
        fresh = [pod for pod in running if _uid(pod) not in known]
        token = self._stored() if fresh else ""
        with self._lock:
            self._tokens = {_uid(pod): known.get(_uid(pod), token) for pod in running}

    def refusal(self, pod: Json) -> str:
        """Reason why the control plane refuses the agent whose Pod starts now. Empty if it accepts the agent, or if the
        Pod is not an agent's.
        """
        if not _agent(pod):
            return ""
        configuration = self._configuration()
        if not configuration.here:
            return ""  # the operator of a control plane elsewhere has created the stack's token
        if configuration.waits:
            return f"no healthy upstream: {configuration.waits}"
        return self._judge(pod, self._stored(), configuration)

    def offline(self, backend: str) -> str:
        """Reason why one of the backend's agents is not connected; empty if all of them are."""
        return next(iter(self.missing(backend).values()), "")

    def missing(self, backend: str) -> dict[str, str]:
        """Agents of a backend (`listener` or `worker`) that are not connected, and the reason for each.

        A control plane outside this cluster is assumed to accept the tokens that its operator gave; the agents must
        still be running.
        """
        configuration = self._configuration()
        self.look()
        with self._lock:
            held = dict(self._tokens)
        reasons: dict[str, list[str]] = {name: [] for name in AGENTS.values()}
        for pod in self._pods():
            agent = _agent(pod)
            if not agent or is_terminating(pod) or argument(pod, "--backend") != backend or _uid(pod) not in held:
                continue
            reasons[agent].append(self._judge(pod, held[_uid(pod)], configuration))
        return {
            agent: f"The {agent} is refused: {found[0]}." if found else f"No {agent} of it is running."
            for agent, found in reasons.items()
            if all(found)
        }

    def _judge(self, pod: Json, token: str, configuration: Configuration) -> str:
        if not configuration.here:
            return ""
        if argument(pod, "--method") == "dev":
            return "" if configuration.login == "dev" else "Jwt is missing"
        try:
            user, roles = self._who(token)
        except UserError as refusal:
            return str(refusal)
        return "" if BACKEND in roles else f"{user} lacks the role {BACKEND}"

    def _stored(self) -> str:
        found = self._find(SECRET)
        data: Mapping[str, str] = at(found, "data", {}) if found is not None else {}
        return base64.b64decode(data.get(TOKEN_KEY, "")).decode(errors="replace").strip()


def _agent(pod: Json) -> str:
    return AGENTS.get(str(at(pod, "spec.serviceAccountName", "")), "")


def _uid(pod: Json) -> str:
    return str(at(pod, "metadata.uid", ""))


def argument(pod: Json, name: str) -> str:
    """Value that follows the argument `name` in the command line of the Pod's first container; empty if the argument is
    missing.
    """
    containers: list[Json] = at(pod, "spec.containers", [])
    arguments: list[str] = containers[0].get("args") or [] if containers else []
    return next((value for key, value in itertools.pairwise(arguments) if key == name), "")
