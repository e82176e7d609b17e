"""Rules about storage and addresses that a stack installs into a cluster without a cloud."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network

from parts.cluster_services.model import Longhorn, MetalLb, bounds
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.rules.finding import Rule, SettingFinding, Trust, error, warning

_STORAGE: Path = ("storage", "longhorn")
_ADDRESSES: Path = ("loadBalancer", "metallb")
LONGHORN_REPLICAS = Rule("longhorn-replicas", "Longhorn docs, best-practices: minimum recommended hardware, volumes")
TWO_DEFAULT_CLASSES = Rule("two-default-classes", "Kubernetes docs, storage-classes: default StorageClass")
METALLB_RANGE = Rule("metallb-range", "MetalLB docs, installation: cloud compatibility; configuration")


def check_cluster_services(settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    """Findings of all rules about Longhorn and MetalLB."""
    longhorn, metallb = settings.storage.longhorn, settings.load_balancer.metallb
    if longhorn is not None and trust(_STORAGE):
        yield from _replicas(longhorn)
        if settings.azure_network is not None:
            yield from _one_default_class(longhorn)
    if metallb is not None and trust(_ADDRESSES):
        yield from _ranges(settings, metallb, trust)


def _replicas(longhorn: Longhorn) -> Iterator[SettingFinding]:
    path, others = (*_STORAGE, "replicas"), ((*_STORAGE, "nodes"),)
    if longhorn.replicas > longhorn.nodes:
        problem = (
            f"{longhorn.replicas} replicas need as many nodes, and {longhorn.nodes} hold some: volumes stay degraded,"
            " and a strict one is never created."
        )
        fix = f"replicas: {longhorn.nodes}, or label more nodes and count them in nodes."
        yield error(path, problem, fix, others=others, rule=LONGHORN_REPLICAS)
    elif longhorn.replicas == 1:
        problem = "One replica: the loss of a node's disk is the loss of its volumes."
        yield warning(path, problem, "replicas: 3", others=others, rule=LONGHORN_REPLICAS)


def _one_default_class(longhorn: Longhorn) -> Iterator[SettingFinding]:
    if longhorn.default_class:
        problem = "AKS has a default StorageClass already: with two, the newer one decides for claims that name none."
        fix = "defaultClass: false"
        path: Path = (*_STORAGE, "defaultClass")
        yield warning(path, problem, fix, rule=TWO_DEFAULT_CLASSES, stand_in=True)


def _ranges(settings: Settings, metallb: MetalLb, trust: Trust) -> Iterator[SettingFinding]:
    taken: list[tuple[str, IPv4Network]] = [("loadBalancer.metallb.avoid", each) for each in metallb.avoid]
    network = settings.azure_network
    if network is not None and trust(("network",)):
        taken += [
            ("network.addressSpace", network.address_space),
            ("network.podCidr", network.pod_cidr),
            ("network.serviceCidr", network.service_cidr),
        ]
    for index, text in enumerate(metallb.addresses):
        path = (*_ADDRESSES, "addresses", index)
        limits = bounds(text)
        if limits is None:
            fix = "As CIDR without host bits, 10.0.9.0/28, or from-to: 10.0.9.10-10.0.9.20."
            yield error(path, f"'{text}' is not a range of addresses.", fix, rule=METALLB_RANGE)
            continue
        for name, block in taken:
            if limits[0] <= block[-1] and block[0] <= limits[1]:
                problem = f"{text} overlaps {block} ({name}): two machines or Pods would use the same address."
                fix = "A range of the nodes' network that is not in use."
                yield error(path, problem, fix, rule=METALLB_RANGE)
        for earlier in metallb.addresses[:index]:
            other = bounds(earlier)
            if other is not None and limits[0] <= other[1] and other[0] <= limits[1]:
                problem = f"{text} overlaps {earlier}, and MetalLB refuses both."
                yield error(path, problem, "Merge them.", rule=METALLB_RANGE)
    if network is None:
        return
    problem = "Azure's networks forward no ARP announcements: nothing reaches these addresses, and AKS has its own."
    yield warning(_ADDRESSES, problem, "Remove it.", rule=METALLB_RANGE, stand_in=True)
