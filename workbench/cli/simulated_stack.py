"""The simulation of a stack, and clients for its simulated cluster with the interface of the readiness checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from physical_ai.readiness import Expected, Get
    from physical_ai.readiness.client import Send
    from simulator.kubernetes.client import Client
    from simulator.simulation import Simulation


_REFUSALS = (401, 403, 429)
"""HTTP statuses with which an API server refuses a request itself, without asking the kubelet."""


def simulation_of(stack: str) -> Simulation:
    """The simulation of a stack. A stack that is not simulated needs a stack file.

    Raises:
        SettingsError: there is no such stack.
    """
    from physical_ai.settings import StackName, existing, load
    from simulator.simulation import Simulation

    simulation = Simulation(str(StackName.parse(stack)))
    if not simulation.exists and stack not in existing():
        load(stack)  # raises an error about the name
    return simulation


def running_cluster(simulation: Simulation) -> str | None:
    """The Azure resource id of the running simulated cluster; None if none is running."""
    if not simulation.exists:
        return None
    clusters = simulation.clusters()
    return next((id for id in clusters.ids() if clusters.is_running(id)), None)


def running_simulation(stack: str) -> Simulation:
    """Simulation of a stack with a running cluster. Raises SimulationError if no cluster is running."""
    from simulator.errors import SimulationError

    simulation = simulation_of(stack)
    if running_cluster(simulation) is None:
        raise SimulationError(f"{stack} has no running simulated cluster. Create it with `physai up {stack}`")
    return simulation


def deployed_pools(simulation: Simulation) -> Sequence[Expected]:
    """GPUs that the pools should offer according to the last deployment; empty if no deployment has
    exported its pools.
    """
    from physical_ai.readiness.expected import deployed_pools as from_outputs

    return from_outputs(simulation.outputs().get("pools") or {}, simulation.stack)


def changing_client(simulation: Simulation, cluster: str) -> Send:
    """Client that can change a simulated cluster, with the signature and errors of `physical_ai.readiness.client`.

    Requests for a Pod's log return the output that the simulator has written for the Pod's program.
    """
    from physical_ai.readiness import reader
    from physical_ai.readiness.shapes import Malformed, checked
    from simulator.kubernetes.client import JSON, MERGE_PATCH, ApiError, Unreachable

    clusters = simulation.clusters()
    client = clusters.client(cluster)

    def send(method: str, path: str, parameters: Mapping[str, str], body: Any = None) -> Any:
        if path.endswith("/log"):
            text = clusters.pod_log(cluster, path, parameters.get("container", ""))
            if text is None:
                raise reader.Missing(f"the simulator keeps no log of {path}")
            return text
        try:
            found = client.request(method, path, body, parameters, MERGE_PATCH if method == "PATCH" else JSON)
            return checked(found, path) if method == "GET" else found
        except ApiError as refusal:
            if refusal.code == 404:
                raise reader.Missing(str(refusal)) from None
            raise reader.Unreachable(f"{refusal.code} {refusal}", refusal.code) from None
        except (Unreachable, Malformed) as problem:
            raise reader.Unreachable(str(problem)) from None

    return send


def readiness_client(client: Client) -> Get:
    """Client that reads a simulated cluster, with the signature and errors of `physical_ai.readiness.client`."""
    from physical_ai.readiness import reader
    from physical_ai.readiness.shapes import Malformed, checked
    from simulator.kubernetes.client import ApiError, Unreachable

    def get(path: str, parameters: Mapping[str, str]) -> Any:
        try:
            return checked(client.get(path, parameters), path)
        except ApiError as refusal:
            # Simulated nodes have no kubelet that answers. A missing right to read logs is a different error.
            no_kubelet = path.endswith("/log") and refusal.code not in _REFUSALS
            if refusal.code == 404 or no_kubelet:
                raise reader.Missing(str(refusal)) from None
            raise reader.Unreachable(f"{refusal.code} {refusal}", refusal.code) from None
        except (Unreachable, Malformed) as problem:
            raise reader.Unreachable(str(problem)) from None

    return get
