"""Facts that decide about connections in a live cluster, read from its NetworkPolicies, Services and Pods. Facts about
resources in Azure are those that the stack declares.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from physical_ai.kubernetes.objects import at, labels, name
from physical_ai.readiness import Unreachable
from physical_ai.readiness.answers import Get, Missing
from physical_ai.readiness.shapes import Malformed
from workbench.policies import Resource
from workbench.policies import Stack as Declared
from workbench.policies.flows.balancers import SERVICE
from workbench.policies.flows.declared import PARTIES
from workbench.policies.flows.network_policies import Engine
from workbench.policies.flows.parties import Pod
from workbench.policies.flows.world import NAMESPACE, NETWORK_POLICY, World, read

Json = Mapping[str, Any]
PATHS: Mapping[str, str] = {
    NAMESPACE: "/api/v1/namespaces",
    SERVICE: "/api/v1/services",
    NETWORK_POLICY: "/apis/networking.k8s.io/v1/networkpolicies",
}
"""API path by resource type. The cluster's objects at these paths take the place of the stack's declared resources of
the type.
"""
PODS = "/api/v1/pods"
OTHERS: Mapping[str, str] = {
    "CiliumNetworkPolicy": "/apis/cilium.io/v2/ciliumnetworkpolicies",
    "CiliumClusterwideNetworkPolicy": "/apis/cilium.io/v2/ciliumclusterwidenetworkpolicies",
    "Calico's NetworkPolicy": "/apis/crd.projectcalico.org/v1/networkpolicies",
    "Calico's GlobalNetworkPolicy": "/apis/crd.projectcalico.org/v1/globalnetworkpolicies",
    "AdminNetworkPolicy": "/apis/policy.networking.k8s.io/v1alpha1/adminnetworkpolicies",
}
"""API paths of policies of other kinds. Such policies also decide about connections, but this project does not evaluate
them.
"""
ENDED = ("Succeeded", "Failed")


def live_world(declared: Declared, get: Get) -> tuple[World, list[str]]:
    """Facts about a cluster that decide about connections, and notes about facts that are not known.

    Raises:
        Unreachable, Unusable: the cluster does not answer, or refuses everything.
    """
    notes = ["Azure's side is as the stack declares it; what is in the cluster was read."]
    found: dict[str, list[Json] | None] = {kind: _items(get, path, notes) for kind, path in PATHS.items()}
    pods = _items(get, PODS, notes)
    if pods is None and not any(each is not None for each in found.values()):
        raise Unreachable("the login may read neither Pods nor Namespaces, Services or NetworkPolicies", 403)
    replaced = {kind for kind, items in found.items() if items is not None}
    declared_policies = {_of(each) for each in declared.resources if each.type == NETWORK_POLICY}
    live = [_resource(kind, each) for kind, items in found.items() for each in items or ()]
    resources = (*(each for each in declared.resources if each.type not in replaced), *live)
    world = read(resources)
    if SERVICE in replaced:  # the release's gateway is one of the live Services
        world = replace(world, balancers=tuple(each for each in world.balancers if each.resource.type == SERVICE))
    if NETWORK_POLICY in replaced:
        notes += _foreign([each for each in live if each.type == NETWORK_POLICY], declared_policies)
    others = list(_other_kinds(get))
    notes += others
    running = None if pods is None else tuple(_pods(pods, found[NAMESPACE] or ()))
    notes += _absent(world, running)
    ground = replace(world.ground, engine=Engine.UNKNOWN) if others else world.ground
    return replace(world, running=running, workloads=(*world.workloads, *(running or ())), ground=ground), notes


def _items(get: Get, path: str, notes: list[str]) -> list[Json] | None:
    """Objects at an API path. If the login may not read them, adds a note and returns None; the declared objects are
    then used instead.
    """
    try:
        return list(get(path, {})["items"])
    except (Unreachable, Missing, Malformed) as problem:
        if isinstance(problem, Unreachable) and problem.status not in (401, 403):
            raise
        notes.append(f"not read: {path.rpartition('/')[2]} ({problem}); as declared instead")
        return None


def _resource(kind: str, item: Json) -> Resource:
    where = str(at(item, "metadata.namespace", ""))
    called = f"{where}/{name(item)}" if where else name(item)
    return Resource(kind, called, dict(item), urn=f"live::{kind}::{called}")


def _of(policy: Resource) -> tuple[str, str]:
    return str(at(policy.inputs, "metadata.namespace", "")), str(at(policy.inputs, "metadata.name", ""))


def _foreign(live: Sequence[Resource], own: set[tuple[str, str]]) -> Iterator[str]:
    """Notes about two differences between the cluster's NetworkPolicies and the stack's: policies that the stack does
    not declare, in namespaces of the stack's network flows; and policies that the stack declares but the cluster lacks.
    """
    about = {each.namespace for each in PARTIES.values() if isinstance(each, Pod)}
    others = [f"{space}/{called}" for space, called in map(_of, live) if (space, called) not in own and space in about]
    if others:
        yield f"NetworkPolicies that are not the stack's: {', '.join(sorted(others))}"
    missing = own - {_of(each) for each in live}
    if missing:
        yield f"NetworkPolicies of the stack that are not in the cluster: {', '.join(sorted(map('/'.join, missing)))}"


def _other_kinds(get: Get) -> Iterator[str]:
    for kind, path in OTHERS.items():
        try:
            items = get(path, {})["items"]
        except Missing:
            continue
        except Unreachable as refusal:
            if refusal.status not in (401, 403):
                raise
            continue
        if items:
            named = ", ".join(sorted(name(each) for each in items))
            yield f"{kind} is not judged, and may open or close more: {named}"


def _pods(pods: Iterable[Json], spaces: Iterable[Json]) -> Iterator[Pod]:
    """Pods that have not ended, one for each set of properties that a NetworkPolicy can select."""
    by_space = {name(each): dict(labels(each)) for each in spaces}
    seen: set[tuple[Any, ...]] = set()
    for each in pods:
        if at(each, "status.phase") in ENDED:
            continue
        space, own = str(at(each, "metadata.namespace", "")), dict(labels(each))
        ports = {
            str(port["name"]): int(port["containerPort"])
            for container in at(each, "spec.containers", ())
            for port in container.get("ports") or ()
            if port.get("name")
        }
        on_host = at(each, "spec.hostNetwork") is True
        kind = (space, on_host, *sorted(own.items()), *sorted(ports.items()))
        if kind not in seen:
            seen.add(kind)
            yield Pod(space, own, ports, by_space.get(space, {}), on_host)


def _absent(world: World, running: tuple[Pod, ...] | None) -> Iterator[str]:
    """Note that names the endpoints of network flows without a running Pod; none if all have one. A Pod with the labels
    of the endpoint's chart then stands for the endpoint.
    """
    if running is None:
        return
    live = replace(world, running=running)
    none = [
        party
        for party, pod in PARTIES.items()
        if isinstance(pod, Pod) and party != "team-pod" and world.has(party) and not live.has_running(party)
    ]
    if none:
        yield f"no Pod runs of: {', '.join(sorted(none))}; one with the labels of its chart stands for it"
