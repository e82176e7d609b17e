"""Findings about high availability, storage, and addresses for Services."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ipaddress import IPv4Address, IPv4Network

from parts.cluster_services.model import Longhorn, MetalLb, bounds
from parts.cluster_services.names import (
    ADDRESS_POOL,
    CONTROL_PLANE_LABEL,
    DEFAULT_CLASS,
    DISK_LABEL,
    LONGHORN_CLASS,
    METALLB_NAMESPACE,
)
from physical_ai.catalog.hardware import on_premises
from physical_ai.findings import Finding
from physical_ai.kubernetes.objects import annotations_of, labels, name, namespace
from physical_ai.nested import at
from workbench.preflight.existing.objects import Json, doubtful, listed, ok, unknown, wrong
from workbench.preflight.existing.reading import Found

OUR_POOL = (METALLB_NAMESPACE, ADDRESS_POOL)
HA_DOCS = "Kubernetes docs, ha-topology"


def judge_availability(found: Found) -> Iterator[Finding]:
    """Findings about the number of control planes and etcd members, and about the API server's address, which must stay
    reachable when a node fails.
    """
    wanted = on_premises().control_planes
    planes = [node for node in found.nodes or () if CONTROL_PLANE_LABEL in labels(node)]
    if not planes:
        yield unknown("control-plane", "nodes", "No node is a control plane: it is managed outside the cluster.")
        return
    count = len(planes)
    if count < wanted or count % 2 == 0:
        problem = f"{count} control planes: {_lost(count)}"
        yield doubtful("control-plane", listed(map(name, planes)), problem, "An odd number, 3 or more.", HA_DOCS)
    else:
        yield ok("control-plane", listed(map(name, planes)), f"{count} control planes")
    pods = found.system_pods or ()
    members = [pod for pod in pods if labels(pod).get("component") == "etcd"]
    if not members:
        problem = "No Pod of etcd: it runs on the hosts (Kubespray's default) or elsewhere, and is not seen from here."
        yield unknown("etcd", "kube-system", problem, "On a control plane: etcdctl member list")
    elif len(members) != count:
        problem = f"{len(members)} members of etcd on {count} control planes: not stacked, or one is lost."
        yield doubtful("etcd", "kube-system", problem, "etcdctl member list", HA_DOCS)
    else:
        yield ok("etcd", "kube-system", f"stacked, {count} members")
    if any(name(pod).startswith(on_premises().virtual_ip) for pod in pods):
        yield ok("virtual-ip", "kube-system", "kube-vip holds the address of the API server")
    elif count > 1:
        problem = "No kube-vip: if the API server's address is one node's, the loss of that node is an outage."
        yield unknown("virtual-ip", "kube-system", problem, "A load balancer, or kube-vip, before the API servers.")


def _lost(count: int) -> str:
    if count == 1:
        return "the loss of that node is the loss of the cluster."
    return f"{count} members of etcd survive the loss of no more nodes than {count - 1} do."


def judge_storage(found: Found, longhorn: Longhorn | None) -> Iterator[Finding]:
    """Findings about storage: one default StorageClass, snapshots, and enough nodes for Longhorn's replicas."""
    if longhorn is not None:
        yield from _longhorn_nodes(found.nodes or (), longhorn)
    if found.classes is None:
        yield unknown("storage", "classes", "StorageClasses could not be read.")
        return
    defaults = [each for each in found.classes if annotations_of(each).get(DEFAULT_CLASS) == "true"]
    named = {name(each) for each in defaults}
    if longhorn is not None and longhorn.default_class:
        named.add(LONGHORN_CLASS)
    if len(named) > 1:
        problem = f"{len(named)} default classes, {listed(named)}: the newest decides for claims that name none."
        fix = "storage.longhorn.defaultClass: false, or take the annotation off the others."
        yield wrong("storage", "classes", problem, fix, "Kubernetes docs, storage-classes: default StorageClass")
    elif not named:
        problem = "No default StorageClass: claims that name none, such as those of OSMO's data, stay Pending."
        yield wrong("storage", "classes", problem, "storage.longhorn, or annotate a class.")
    else:
        yield ok("storage", listed(named), "the default class")
    yield from _snapshots(found, defaults, longhorn)


def _longhorn_nodes(nodes: Sequence[Json], longhorn: Longhorn) -> Iterator[Finding]:
    count = sum(labels(node).get(DISK_LABEL) == "true" for node in nodes)
    if count < longhorn.replicas:
        problem = f"{count} nodes have the label {DISK_LABEL}=true, and {longhorn.replicas} replicas need as many."
        yield wrong("storage", "longhorn", problem, f"kubectl label node NODE {DISK_LABEL}=true")
    elif count != longhorn.nodes:
        problem = f"{count} nodes have the label {DISK_LABEL}=true; storage.longhorn.nodes says {longhorn.nodes}."
        yield doubtful("storage", "longhorn", problem, f"nodes: {count}")
    else:
        yield ok("storage", "longhorn", f"{count} nodes hold replicas")


def _snapshots(found: Found, defaults: Sequence[Json], longhorn: Longhorn | None) -> Iterator[Finding]:
    if found.snapshot_classes is None:
        problem = (
            "The cluster has no kinds of snapshots, or they may not be read: data services get no daily snapshots."
        )
        fix = "kubernetes-csi/external-snapshotter: its definitions and its controller."
        severity = wrong if longhorn is not None and longhorn.snapshots else doubtful
        yield severity("snapshots", "classes", problem, fix)
        return
    drivers = {str(each.get("driver")) for each in found.snapshot_classes}
    missing = {str(each.get("provisioner")) for each in defaults} - drivers
    if missing and not (longhorn is not None and longhorn.snapshots):
        problem = f"No VolumeSnapshotClass is of {listed(missing)}: volumes of the default class have no snapshots."
        yield doubtful("snapshots", "classes", problem, "A VolumeSnapshotClass with that driver.")
    else:
        yield ok("snapshots", "classes", "volumes of the default class have snapshots")


def judge_addresses(found: Found, metallb: MetalLb | None) -> Iterator[Finding]:
    """Findings about addresses for Services of type LoadBalancer; if the stack installs MetalLB, about addresses of
    MetalLB's pools that are already in use.
    """
    if metallb is not None:
        yield from _taken(found, metallb)
        return
    balancers = [each for each in found.services or () if at(each, "spec.type") == "LoadBalancer"]
    served = [each for each in balancers if at(each, "status.loadBalancer.ingress")]
    if found.address_pools or served:
        yield ok("load-balancer", "services", "Services of type LoadBalancer get addresses")
    elif balancers:
        problem = f"{listed(map(name, balancers))} wait for an address: nothing gives any."
        yield doubtful("load-balancer", "services", problem, "loadBalancer.metallb, or another one.")
    else:
        problem = (
            "Nothing shows that Services of type LoadBalancer get addresses; OSMO's gateway needs one from outside."
        )
        yield unknown("load-balancer", "services", problem, "loadBalancer.metallb, or a Service of that type to try.")


def _taken(found: Found, metallb: MetalLb) -> Iterator[Finding]:
    before = [each for each in found.address_pools or () if (namespace(each), name(each)) != OUR_POOL]
    for text in metallb.addresses:
        limits = bounds(text)
        if limits is None:
            continue
        nodes = [
            name(node)
            for node in found.nodes or ()
            for each in at(node, "status.addresses") or ()
            if (address := _address(each.get("address"))) is not None and limits[0] <= address <= limits[1]
        ]
        pods = [
            name(node)
            for node in found.nodes or ()
            for block in [_network(at(node, "spec.podCIDR"))]
            if block is not None and limits[0] <= block[-1] and block[0] <= limits[1]
        ]
        services = [
            name(each)
            for each in found.services or ()
            if (address := _address(at(each, "spec.clusterIP"))) is not None and limits[0] <= address <= limits[1]
        ]
        for who, what in ((nodes, "nodes"), (pods, "Pods of nodes"), (services, "Services")):
            if who:
                problem = f"{text} holds addresses of {what}: {listed(who)}. Two would answer for one address."
                yield wrong("load-balancer", "metallb", problem, "A range that is not in use.")
    if before:
        problem = "The cluster has MetalLB's pools already: two installations would answer for the same addresses."
        yield doubtful("load-balancer", "metallb", problem, "Remove loadBalancer.metallb, or the other installation.")
    else:
        yield ok("load-balancer", "metallb", f"gives out {', '.join(metallb.addresses)}")


def _address(text: object) -> IPv4Address | None:
    try:
        return IPv4Address(str(text))
    except ValueError:
        return None


def _network(text: object) -> IPv4Network | None:
    try:
        return IPv4Network(str(text))
    except ValueError:
        return None
