"""Changes that an accepted PUT makes to the simulated cloud's state file, before anything happens in a cluster."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, cast

from simulator.azure import capacity, clusters, ids, nodes, outputs, pools
from simulator.azure.bodies import Json, get, items, table
from simulator.azure.clock import ModelClock
from simulator.azure.guids import vm_guid
from simulator.azure.registry import models
from simulator.azure.rules import Put
from simulator.azure.rules.pool_subnets import prefixes
from simulator.azure.state import KEPT, OS, SUCCEEDED, UPGRADED_FROM, AzureState, Resource, kind_of
from simulator.azure.store import Store

MANAGED_SUBNET = "10.224.0.0/16"
"""Node subnet of a cluster without a virtual network of the user (AKS docs)."""

SECRETS = frozenset({"secret", "adminPassword", "administratorLoginPassword", "serverAppSecret", "trustedCa"})
"""Write-only inputs; neither a GET nor the state file ever contains them."""


def record(put: Put, store: Store, clock: ModelClock) -> Resource:
    """Saves the resource of a PUT and its inline children in the store. A cluster or pool gets the state Creating or
    Updating.
    """
    has_effects = put.kind in ("ManagedCluster", "AgentPool")
    begun = ("Updating" if put.old else "Creating") if has_effects else SUCCEEDED
    resource = Resource(
        id=put.id,
        kind=put.kind,
        inputs=_stored(put),
        outputs={},
        state=begun,
        serial=put.old.serial if put.old else store.next_serial(),
        created=put.old.created if put.old else clock.now(),
        facts=_facts(put, clock),
        inline=put.old.inline if put.old else False,
    )
    store.put(resource)
    if put.kind == "ManagedCluster":
        for profile in items(put.properties, "agentPoolProfiles"):
            _record_inline_pool(put, profile, store, clock)
    if put.kind == "VirtualNetwork" and "subnets" in put.properties:
        _record_inline_subnets(put, store, clock)
    resource = replace(resource, outputs=outputs.compute(resource, put.azure))
    store.put(resource)
    return resource


def _stored(put: Put) -> Json:
    """The inputs of this PUT as they are saved in the simulated cloud's state file: without secrets."""
    inputs = without_secrets(put.inputs)
    if put.kind == "VaultSecret":
        inputs["properties"] = {name: value for name, value in inputs["properties"].items() if name != "value"}
    return inputs


def without_secrets(value: Any) -> Any:
    if isinstance(value, Mapping):
        members = cast("Mapping[str, Any]", value).items()
        return {name: without_secrets(item) for name, item in members if name not in SECRETS}
    if isinstance(value, list):
        return [without_secrets(item) for item in cast("list[Any]", value)]
    return value


def _facts(put: Put, clock: ModelClock) -> Json:
    old: Json = put.old.facts if put.old else {}
    if put.kind == "RoleAssignment":
        return old or {"effectiveAt": clock.now() + clock.role_delay_seconds, "granted": []}
    if put.kind == "ManagedCluster":
        version = clusters.version_after(put.body, old.get("version"), put.azure.offers)
        return {**old, "version": version, "puts": old.get("puts", 0) + 1}
    if put.kind == "AgentPool":
        before = get(put.old.body, "properties") if put.old else None
        return _pool_facts(put.id, put.properties, before, old, put.azure)
    return old


def _pool_facts(
    pool_id: str, sent: Mapping[str, Any], before: Mapping[str, Any] | None, old: Mapping[str, Any], azure: AzureState
) -> Json:
    cluster = azure.get(ids.parent(pool_id), "ManagedCluster")
    body: Mapping[str, Any] = clusters.effective(cluster.body, cluster.id) if cluster else {}
    running = str(cluster.facts["version"]) if cluster else ""
    spec = pools.effective(sent, body, azure.offers)
    version = _pool_version(sent, old.get("version"), running, azure)
    spec_before = before and pools.effective(before, body, azure.offers)
    leaves = _left(version, spec["osSKU"], (spec_before or spec)["osSKU"], old)
    facts: Json = {
        "version": version,
        **({"image": old["image"]} if "image" in old else {}),
        **({UPGRADED_FROM: leaves} if leaves else {}),
        "puts": old.get("puts", 0) + 1,
        "count": pools.count_after(spec, spec_before, old.get("count")),
    }
    return {**facts, **_machines(pool_id, spec, facts["count"], machines_of(old), azure, old)}


def _left(version: str, sku: str, sku_before: str, old: Mapping[str, Any]) -> Json:
    """Version, image and operating system of a pool's nodes before an upgrade; empty if there is nothing to upgrade."""
    given: Json = old.get(UPGRADED_FROM) or {name: old[name] for name in ("version", "image", OS) if name in old}
    if "version" not in given:
        return {}
    present = {OS: sku_before, **given}
    return present if (present["version"], present[OS]) != (version, sku) else {}


def _pool_version(sent: Mapping[str, Any], current: str | None, running: str, azure: AzureState) -> str:
    """Kubernetes version of a pool's nodes after a PUT.

    Without a version in the PUT, an existing pool keeps its version and a new pool gets the control plane's. A minor
    version selects its newest patch, unless the pool or the control plane already runs a patch of the minor.
    """
    asked = str(sent.get("orchestratorVersion") or current or running)
    if current and current.startswith(f"{asked}."):
        return current
    # A new pool of the control plane's minor gets its patch and no newer one.
    if running.startswith(f"{asked}."):
        return running
    return pools.version_of({"orchestratorVersion": asked}, running, azure.offers)


def upgraded(pool: Resource, kept: str) -> Resource:
    """A pool after its upgrade. `kept` is the reason why the pool's nodes could not be drained: if it is empty, the
    nodes have the new version; if not, they still have the old version.
    """
    if UPGRADED_FROM not in pool.facts:
        return pool
    facts = {name: value for name, value in pool.facts.items() if name not in (UPGRADED_FROM, KEPT, OS)}
    if kept:
        facts.pop("image", None)
        return replace(pool, facts={**facts, **pool.facts[UPGRADED_FROM], KEPT: kept})
    return replace(pool, facts=facts)


def reimaged(pool: Resource) -> Resource:
    """The pool with the next node image for its nodes."""
    present = str(pool.facts.get("image", nodes.IMAGE_VERSION))
    left = {"version": pool.facts["version"], "image": present}
    facts = {name: value for name, value in pool.facts.items() if name != KEPT}
    return replace(pool, facts={**facts, "image": nodes.next_image(present), UPGRADED_FROM: left})


def machines_of(facts: Mapping[str, Any]) -> dict[int, str]:
    """A pool's machines: instance number → address, in the order of their creation."""
    addresses: list[str] = facts.get("addresses") or []
    return dict(zip(facts.get("instances") or range(len(addresses)), addresses, strict=True))


def vms_of(facts: Mapping[str, Any]) -> dict[int, str]:
    """The unique ids of a pool's machines, by instance number.

    A new machine that reuses an instance number has another id.
    """
    return dict(zip(facts.get("instances") or (), facts.get("vms") or (), strict=False))


def _machines(  # noqa: PLR0917 - all that decides which machines there are
    pool_id: str,
    spec: Mapping[str, Any],
    count: int,
    had: Mapping[int, str],
    azure: AzureState,
    old: Mapping[str, Any],
) -> Json:
    """Machines of a pool, as many as there is capacity for: existing ones first, then new ones.

    New machines get the lowest free instance numbers and the lowest free addresses of the pool's subnet. `old`: the
    pool's facts before the change.
    """
    reference = spec.get("vnetSubnetID")
    subnet = azure.get(reference, "Subnet")
    kept = dict(list(had.items())[:count])
    count = capacity.obtainable(pool_id, spec, count, len(kept), azure)
    taken = list(kept.values())
    for other in azure.of_kind("AgentPool"):
        if not ids.same(other.id, pool_id) and _shares(other, reference, pool_id):
            taken += other.facts.get("addresses", [])
    prefix = prefixes(subnet)[0] if subnet and prefixes(subnet) else MANAGED_SUBNET
    added = nodes.free_addresses(prefix, taken, count - len(kept))
    numbers = (number for number in range(len(kept) + len(added)) if number not in kept)
    made = {**kept, **dict(zip(numbers, added, strict=False))}
    known = vms_of(old)
    times: dict[str, int] = dict(old.get("times") or {})
    for number in made:
        if number not in kept:
            times[str(number)] = times.get(str(number), 0) + 1
    vms = [known[number] if number in kept and number in known else vm_guid(pool_id, number, times) for number in made]
    return {"instances": list(made), "addresses": list(made.values()), "vms": vms, "times": times}


def _shares(other: Resource, subnet_id: Any, pool_id: str) -> bool:
    theirs = get(other.body, "properties.vnetSubnetID")
    if subnet_id is None:
        return theirs is None and ids.same(ids.parent(other.id), ids.parent(pool_id))
    return ids.same(theirs, subnet_id)


def _record_inline_pool(put: Put, profile: Mapping[str, Any], store: Store, clock: ModelClock) -> None:
    name = str(profile["name"])
    old = put.azure.get(f"{put.id}/agentPools/{name}", "AgentPool")
    place = {key: put.inputs[key] for key in ("resourceGroupName", "resourceName")}
    sent = {key: value for key, value in profile.items() if key != "name"}
    before = get(old.body, "properties") if old else None
    pool_id = f"{put.id}/agentPools/{name}"
    resource = Resource(
        id=pool_id,
        kind="AgentPool",
        inputs={**place, "agentPoolName": name, **sent},
        outputs={},
        serial=old.serial if old else store.next_serial(),
        created=old.created if old else clock.now(),
        facts=_pool_facts(pool_id, sent, before, old.facts if old else {}, put.azure),
        inline=old.inline if old else True,
    )
    store.put(replace(resource, outputs=outputs.compute(resource, put.azure)))


@models("subnet-policy-mix")
def _record_inline_subnets(put: Put, store: Store, clock: ModelClock) -> None:
    """Makes the subnets of a virtual network equal to the list in its PUT."""
    given: list[Json] = items(put.inputs, "subnets")
    named = {str(subnet["name"]).lower() for subnet in given}
    for child in list(put.azure.children(put.id, "Subnet")):
        if ids.name(child.id).lower() not in named:
            store.remove(child.id)
    for subnet in given:
        old = put.azure.get(f"{put.id}/subnets/{subnet['name']}", "Subnet")
        place = {"resourceGroupName": put.inputs["resourceGroupName"], "virtualNetworkName": ids.name(put.id)}
        resource = Resource(
            id=f"{put.id}/subnets/{subnet['name']}",
            kind="Subnet",
            inputs={**place, "subnetName": subnet["name"], **subnet},
            outputs={},
            serial=old.serial if old else store.next_serial(),
            created=old.created if old else clock.now(),
            inline=old.inline if old else True,
        )
        store.put(replace(resource, outputs=outputs.compute(resource, put.azure)))


def resized(pool: Resource, count: int, azure: AzureState, without: Collection[int] = ()) -> Resource:
    """A pool after its autoscaler requested `count` nodes; it has fewer nodes if Azure lacks capacity.

    `without`: instance numbers of the nodes to remove. If more have to go, the youngest nodes are removed.
    """
    left = {number: address for number, address in machines_of(pool.facts).items() if number not in without}
    machines = _machines(pool.id, spec_of(pool, azure), count, left, azure, pool.facts)
    changed = replace(pool, facts={**pool.facts, "count": len(machines["addresses"]), **machines})
    return replace(changed, outputs=outputs.compute(changed, azure))


def spec_of(pool: Resource, azure: AzureState) -> Json:
    """The pool's properties with AKS's defaults."""
    cluster = azure.get(ids.parent(pool.id), "ManagedCluster")
    body: Mapping[str, Any] = clusters.effective(cluster.body, cluster.id) if cluster else {}
    return pools.effective(table(pool.body, "properties"), body, azure.offers)


def nodes_of(pool: Resource, azure: AzureState, machines: Mapping[int, str] | None = None) -> list[Json]:
    """The Node objects of a pool, for its present machines or for the given ones."""
    cluster = azure.get(ids.parent(pool.id), "ManagedCluster")
    if cluster is None:
        return []
    body = clusters.effective(cluster.body, cluster.id)
    version = str(pool.facts["version"])
    facts = nodes.PoolFacts(
        cluster_id=cluster.id,
        node_resource_group=str(get(body, "properties.nodeResourceGroup")),
        location=cluster.location,
        version=version,
        name=ids.name(pool.id),
        spec={**spec_of(pool, azure), **({"osSKU": pool.facts[OS]} if OS in pool.facts else {})},
        cluster=body,
        kubelet_client_id=str(outputs.kubelet_identity(cluster, azure)["clientId"]),
        ubuntu=azure.offers.ubuntu(version),
        image=str(pool.facts.get("image", nodes.IMAGE_VERSION)),
    )
    given = machines_of(pool.facts) if machines is None else machines
    return nodes.nodes(facts, given, azure.offers, vms_of(pool.facts))


def inline_children(resource: Resource, azure: AzureState) -> list[Resource]:
    """Resources that the resource's PUT created with it."""
    return [r for r in azure.resources.values() if r.inline and ids.same(ids.parent(r.id), resource.id)]


def remove_tree(resource_id: str, store: Store) -> None:
    """Removes a resource and everything under it from the store: children, and role assignments and settings on it."""
    # The settings of a blob service are deleted without the containers in it.
    alone = kind_of(resource_id) == "BlobServiceProperties"
    for resource in store:
        if ids.same(resource.id, resource_id) if alone else ids.is_under(resource.id, resource_id):
            store.remove(resource.id)
