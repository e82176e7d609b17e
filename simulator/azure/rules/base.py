"""Requests as the rules see them, and the registry that ties each rule function to its rules of rules.json."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from simulator.azure import clusters, ids, pools
from simulator.azure.bodies import API_VERSION_INPUT, Json, items, table, to_body
from simulator.azure.data import TypeMapping, mappings, rules
from simulator.azure.errors import Refusal
from simulator.azure.registry import models
from simulator.azure.state import AzureState, Resource


@dataclass(frozen=True)
class Put:
    """A PUT request. `old`: the resource that has this id already; None if the PUT creates it."""

    kind: str
    id: str
    inputs: Mapping[str, Any]
    old: Resource | None
    azure: AzureState

    @property
    def mapping(self) -> TypeMapping:
        return mappings()[self.kind]

    @property
    def api_version(self) -> str:
        """The API version that the PUT is sent with."""
        return str(self.inputs.get(API_VERSION_INPUT) or self.mapping.api_version)

    @cached_property
    def body(self) -> Json:
        return to_body(self.mapping, self.inputs)

    @cached_property
    def properties(self) -> Json:
        return table(self.body, "properties")


@dataclass(frozen=True)
class Delete:
    """A DELETE of an existing resource."""

    resource: Resource
    azure: AzureState

    @property
    def kind(self) -> str:
        return self.resource.kind

    @property
    def id(self) -> str:
        return self.resource.id

    @property
    def mapping(self) -> TypeMapping:
        return self.resource.mapping


Request = Put | Delete


@dataclass(frozen=True)
class Pool:
    """A node pool in a request: an AgentPool, or one entry of a ManagedCluster's agentPoolProfiles."""

    put: Put
    name: str
    sent: Mapping[str, Any]
    """Properties of the pool as sent."""
    spec: Mapping[str, Any]
    """Properties of the pool with AKS's defaults."""
    old: Mapping[str, Any] | None
    """Present properties of the pool with defaults; None for a new pool."""
    path: str
    """Path of the properties in the body."""
    cluster: Mapping[str, Any]
    """Body of the managed cluster, with defaults."""
    cluster_id: str
    siblings: Mapping[str, Mapping[str, Any]]
    """The cluster's other pools after the request, with defaults, by name."""

    @property
    def azure(self) -> AzureState:
        return self.put.azure

    @property
    def location(self) -> str:
        return str(self.cluster.get("location", "")).replace(" ", "").lower()

    @property
    def is_system(self) -> bool:
        return self.spec.get("mode") == "System"

    @property
    def is_spot(self) -> bool:
        return pools.is_spot(self.spec)


PutRule = Callable[[Put], Iterator[Refusal]]
DeleteRule = Callable[[Delete], Iterator[Refusal]]
PoolRule = Callable[[Pool], Iterator[Refusal]]

_put_rules: list[tuple[tuple[str, ...], PutRule]] = []
_delete_rules: list[tuple[tuple[str, ...], DeleteRule]] = []
_pool_rules: list[PoolRule] = []


def on_put(kinds: str | tuple[str, ...], *rule_ids: str) -> Callable[[PutRule], PutRule]:
    """Decorator that registers a function as a rule for PUTs of resources of these kinds; `*` for all kinds."""

    def register(function: PutRule) -> PutRule:
        _put_rules.append(((kinds,) if isinstance(kinds, str) else kinds, function))
        return models(*rule_ids)(function)

    return register


def on_delete(kinds: str | tuple[str, ...], *rule_ids: str) -> Callable[[DeleteRule], DeleteRule]:
    def register(function: DeleteRule) -> DeleteRule:
        _delete_rules.append(((kinds,) if isinstance(kinds, str) else kinds, function))
        return models(*rule_ids)(function)

    return register


def on_pool(*rule_ids: str) -> Callable[[PoolRule], PoolRule]:
    """Decorator that registers a rule for node pools, declared in the cluster or as resources of their own."""

    def register(function: PoolRule) -> PoolRule:
        _pool_rules.append(function)
        return models(*rule_ids)(function)

    return register


def refuse(request: Request | Pool, rule_id: str, message: str, target: str = "", code: str | None = None) -> Refusal:
    """A refusal by the rule `rule_id` of rules.json, with the rule's status.

    `code`: one of the rule's error codes; the first one by default.
    """
    rule = rules()[rule_id]
    put = request.put if isinstance(request, Pool) else request
    return Refusal(rule_id, rule.status, code or rule.codes[0], message, target, put.mapping.is_aks)


def refusals(request: Request) -> Iterator[Refusal]:
    """Every reason to refuse a request, in the order in which the service would find them."""
    if isinstance(request, Delete):
        for kinds, rule in _delete_rules:
            if request.kind in kinds or "*" in kinds:
                yield from rule(request)
        return
    for kinds, put_rule in _put_rules:
        if request.kind in kinds or "*" in kinds:
            yield from put_rule(request)
    for pool in pools_of(request):
        for pool_rule in _pool_rules:
            yield from pool_rule(pool)


def pools_of(put: Put) -> list[Pool]:
    """The node pools that a PUT declares."""
    if put.kind == "AgentPool":
        cluster_id = put.id.rsplit("/", 2)[0]
        cluster = put.azure.get(cluster_id, "ManagedCluster")
        # In a preview the cluster may not exist yet; the pool's own properties can be checked without it.
        body = clusters.effective(cluster.body if cluster else {}, cluster_id)
        return [
            _pool(
                put,
                name=ids.name(put.id),
                sent=put.properties,
                path="properties",
                cluster=body,
                cluster_id=cluster_id,
                old=put.old,
            )
        ]
    if put.kind == "ManagedCluster":
        body = clusters.effective(put.body, put.id)
        profiles: list[Json] = items(put.body, "properties.agentPoolProfiles")
        return [
            _pool(
                put,
                name=str(profile.get("name", "")),
                sent={name: value for name, value in profile.items() if name != "name"},
                path=f"properties.agentPoolProfiles[{index}]",
                cluster=body,
                cluster_id=put.id,
                old=put.azure.get(f"{put.id}/agentPools/{profile.get('name', '')}", "AgentPool"),
            )
            for index, profile in enumerate(profiles)
        ]
    return []


def _pool(put: Put, *, name: str, sent: Json, path: str, cluster: Json, cluster_id: str, old: Resource | None) -> Pool:
    azure = put.azure
    old_spec = pools.effective(table(old.body, "properties"), cluster, azure.offers) if old else None
    return Pool(
        put=put,
        name=name,
        sent=sent,
        spec=pools.effective(sent, cluster, azure.offers),
        old=old_spec,
        path=path,
        cluster=cluster,
        cluster_id=cluster_id,
        siblings={n: s for n, s in pools_after(put, cluster, cluster_id).items() if n != name},
    )


def pools_after(put: Put, cluster: Mapping[str, Any], cluster_id: str) -> dict[str, Json]:
    """Every pool that the cluster has once the request is done, with AKS's defaults, by name."""
    offers = put.azure.offers
    found: dict[str, Json] = {
        ids.name(pool.id): table(pool.body, "properties") for pool in put.azure.children(cluster_id, "AgentPool")
    }
    if put.kind == "AgentPool":
        found[ids.name(put.id)] = put.properties
    else:
        profiles: list[Json] = items(put.body, "properties.agentPoolProfiles")
        found |= {str(p.get("name", "")): {k: v for k, v in p.items() if k != "name"} for p in profiles}
    return {name: pools.effective(spec, cluster, offers) for name, spec in found.items()}
