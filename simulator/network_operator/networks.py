"""Additional network interfaces of Pods: the objects that the Network Operator, nv-ipam and Multus create for them.
Pure functions.

Sources: Mellanox/network-operator manifests/state-macvlan-network for NetworkAttachmentDefinitions,
Mellanox/nvidia-k8s-ipam pkg/ipam-controller/allocator for blocks of addresses, and k8snetworkplumbingwg/multus-cni for
the annotation of a Pod.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from ipaddress import IPv4Address, IPv4Network
from typing import Any

from simulator.cluster.objects import Json, annotations_of, at, labels, name

GROUP = "/apis/mellanox.com/v1alpha1/macvlannetworks"
POOLS = "/apis/nv-ipam.nvidia.com/v1alpha1/ippools"
DEFINITIONS = "/apis/k8s.cni.cncf.io/v1/network-attachment-definitions"
WANTED, STATUS = "k8s.v1.cni.cncf.io/networks", "k8s.v1.cni.cncf.io/network-status"


def attachment(network: Json) -> Json:
    """The NetworkAttachmentDefinition of a MacvlanNetwork."""
    spec: Json = at(network, "spec", {})
    config: Json = {"cniVersion": "0.3.1", "name": name(network), "type": "macvlan"}
    config |= {key: spec[key] for key in ("master", "mode", "mtu") if spec.get(key)}
    config["ipam"] = json.loads("".join(str(spec.get("ipam") or "{}").split()))
    reference = {"apiVersion": network["apiVersion"], "kind": network["kind"], "name": name(network)}
    owner = {**reference, "uid": at(network, "metadata.uid", ""), "controller": True, "blockOwnerDeletion": True}
    return {
        "apiVersion": "k8s.cni.cncf.io/v1",
        "kind": "NetworkAttachmentDefinition",
        "metadata": {
            "name": name(network),
            "namespace": spec.get("networkNamespace") or "default",
            "ownerReferences": [owner],
        },
        "spec": {"config": json.dumps(config)},
    }


def allocations(pool: Json, nodes: Iterable[Json]) -> list[Json]:
    """The status of an IPPool: one block of addresses for each node that the IPPool selects, as long as free blocks
    exist. A node keeps a block that it has.
    """
    subnet, size = IPv4Network(str(pool["spec"]["subnet"])), int(pool["spec"]["perNodeBlockSize"])
    chosen = sorted(name(node) for node in nodes if _selects(pool, node))
    had = {each["nodeName"]: each for each in at(pool, "status.allocations", []) if each["nodeName"] in chosen}
    used = {each["startIP"] for each in had.values()}
    free = (block for block in _blocks(subnet, size) if block["startIP"] not in used)
    for node in chosen:
        if node not in had and (block := next(free, None)) is not None:
            had[node] = {"nodeName": node, **block}
    return [had[node] for node in chosen if node in had]


def _blocks(subnet: IPv4Network, size: int) -> Iterator[dict[str, str]]:
    for first in range(1, subnet.num_addresses - size, size):
        yield {"startIP": str(subnet[first]), "endIP": str(subnet[first + size - 1])}


def _selects(pool: Json, node: Json) -> bool:
    terms: list[Json] | None = at(pool, "spec.nodeSelector.nodeSelectorTerms")
    if terms is None:
        return True
    given = labels(node)
    return any(
        all(given.get(each["key"]) in each.get("values", []) for each in term.get("matchExpressions", []))
        for term in terms
        if term.get("matchExpressions")
    )


def interfaces(
    pods: Sequence[Json], pools: Mapping[str, Json], definitions: Mapping[tuple[str, str], Json]
) -> dict[tuple[str, str], str]:
    """Annotations about network interfaces that Multus still has to write, by namespace and name of the Pod.

    Args:
        pools: IPPools by name.
        definitions: NetworkAttachmentDefinitions by namespace and name.
    """
    taken = {address for pod in pods for each in _status(pod) for address in each.get("ips", [])}
    found: dict[tuple[str, str], str] = {}
    for pod in sorted(pods, key=lambda each: (str(at(each, "metadata.creationTimestamp", "")), name(each))):
        if not annotations_of(pod).get(WANTED) or _status(pod) or at(pod, "status.phase") != "Running":
            continue
        given: list[Json] = [
            {"name": "cni", "interface": "eth0", "ips": [at(pod, "status.podIP", "")], "default": True}
        ]
        for number, (space, key) in enumerate(wanted_by(pod), start=1):
            definition = definitions.get((space, key))
            address = _address(definition, pools, str(at(pod, "spec.nodeName", "")), taken)
            if address is None:
                break
            taken.add(address)
            given.append({"name": f"{space}/{key}", "interface": f"net{number}", "ips": [address], "dns": {}})
        else:
            found[str(at(pod, "metadata.namespace")), name(pod)] = json.dumps(given)
    return found


def missing(pod: Json, definitions: Collection[tuple[str, str]]) -> str:
    """The kubelet's message about a Pod that names a missing network; empty if all networks of the Pod exist.

    Multus refuses the sandbox (k8snetworkplumbingwg/multus-cni pkg/k8sclient, getKubernetesDelegate).
    """
    space, key = next((each for each in wanted_by(pod) if each not in definitions), ("", ""))
    if not key:
        return ""
    place = "/".join(str(at(pod, f"metadata.{part}", "")) for part in ("namespace", "name", "uid"))
    return (
        "Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox: "
        f'plugin type="multus" name="multus-cni-network" failed (add): Multus: [{place}]: '
        f"getKubernetesDelegate: cannot find a network-attachment-definition ({key}) in namespace ({space}): "
        f'network-attachment-definitions.k8s.cni.cncf.io "{key}" not found'
    )


def wanted_by(pod: Json) -> list[tuple[str, str]]:
    """Namespace and name of each network that a Pod's annotation names. The annotation is a JSON list, or a list of
    `NAME` or `NAMESPACE/NAME` separated by commas.
    """
    own = str(at(pod, "metadata.namespace"))
    text = annotations_of(pod).get(WANTED, "")
    if text.lstrip().startswith("["):
        items: list[Json] = json.loads(text)
        return [(str(each.get("namespace") or own), str(each["name"])) for each in items]
    named = [each.strip().partition("@")[0] for each in text.split(",")]
    return [(space, key) if slash else (own, space) for space, slash, key in (each.partition("/") for each in named)]


def _status(pod: Json) -> list[Json]:
    return json.loads(annotations_of(pod).get(STATUS, "[]"))


def _address(definition: Json | None, pools: Mapping[str, Json], node: str, taken: set[str]) -> str | None:
    """The first free address in the block of addresses that an IPPool has for the node. None if the definition, the
    IPPool or the block is missing, or if no address is free.
    """
    config: Any = json.loads(str(at(definition or {}, "spec.config", "{}")))
    pool = pools.get(str(at(config, "ipam.poolName", "")))
    blocks = {each["nodeName"]: each for each in at(pool or {}, "status.allocations", [])}
    if pool is None or node not in blocks:
        return None
    first, last = (IPv4Address(blocks[node][key]) for key in ("startIP", "endIP"))
    gateway = at(pool, "spec.gateway", "")
    every = (str(first + offset) for offset in range(int(last) - int(first) + 1))
    return next((each for each in every if each not in taken and each != gateway), None)
