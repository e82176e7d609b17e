"""The simulated OSMO control plane beside one cluster: its gateway on loopback, its agents, and the Job that creates
the agents' token.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from simulator.cluster.loop import Loop
from simulator.cluster.watch import Watch
from simulator.kubernetes.client import Client
from simulator.osmo.control import gateway_server, interactive, tokens
from simulator.osmo.control.accounts import Accounts
from simulator.osmo.control.admin_password import AdminPassword
from simulator.osmo.control.agents import Agents
from simulator.osmo.control.configuration import Configuration, declared
from simulator.osmo.control.gateway import Answer, Gateway, Request, Surroundings
from simulator.osmo.control.key_vaults import KeyVaults
from simulator.osmo.control.queues import Queues
from simulator.osmo.control.token_pods import SELECTOR, TokenPods, is_ours
from simulator.osmo.service import as_account
from simulator.osmo_names import AGENT, CONTROL_NAMESPACE, OPERATOR_NAMESPACE, WORKER_ACCOUNT, WORKFLOWS_NAMESPACE


class ControlPlane:
    """Simulation of OSMO's control plane for one cluster. Its gateway answers as soon as the object is created; `loop`
    follows the Pods.
    """

    def __init__(self, client: Client, folder: Path, simulation: Path) -> None:
        """Creates the control plane. `folder`: folder of the cluster; `simulation`: folder with the key for tokens."""
        self.loop = Loop("osmo", self.round)
        self._client = client
        self._agent_pods = Watch(client, f"/api/v1/namespaces/{OPERATOR_NAMESPACE}/pods", self.loop.wake)
        self._token_pods = Watch(
            client, f"/api/v1/namespaces/{CONTROL_NAMESPACE}/pods", self.loop.wake, selector=SELECTOR
        )
        accounts = Accounts(folder, lambda: frozenset(self.configuration().roles))
        around = Surroundings(self.configuration, AdminPassword(client), self._missing, self._workflow)
        self._gateway = Gateway(accounts, tokens.key_in(simulation), around)
        self.agents = Agents(self._agent_pods.all, client.find, self.configuration, self._gateway.who)
        self._agent_services = Watch(
            client, f"/api/v1/namespaces/{CONTROL_NAMESPACE}/pods", self.loop.wake, selector=f"app={AGENT}"
        )
        self._queues = Queues(
            self._agent_pods.all,
            self._agent_services.all,
            self._offline,
            lambda: as_account(client, OPERATOR_NAMESPACE, WORKER_ACCOUNT),
            folder,
        )
        self._vaults = KeyVaults(simulation, client)
        self._jobs = TokenPods(
            client,
            lambda: [*self._token_pods.all(), *(pod for pod in self._agent_pods.all() if is_ours(pod))],
            lambda: gateway_server.address(folder),
            self._vaults.gateway,
        )
        gateway_server.serve(self._answer, folder)

    def _answer(self, request: Request) -> Answer:
        return (self._vaults if self._vaults.answers(request) else self._gateway).answer(request)

    def configuration(self) -> Configuration:
        return declared(self._client.find)

    def round(self) -> float | None:
        self.agents.look()
        waits = (self._queues.round(self.configuration()), self._jobs.run())
        return min((each for each in waits if each is not None), default=None)

    def _workflow(self, id: str) -> interactive.Running | None:
        path = f"/api/v1/namespaces/{WORKFLOWS_NAMESPACE}/pods"
        return interactive.running(self._client.get(path, interactive.selector(id))["items"])

    def _missing(self, backend: str) -> Mapping[str, str]:
        return self.agents.missing(backend)

    def _offline(self, backend: str) -> str:
        return self.agents.offline(backend)
