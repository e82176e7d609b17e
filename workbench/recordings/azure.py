"""Reading of a subscription for a recording: the body of each of the stack's resources, as a GET returns it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from physical_ai.catalog.api_versions import api_versions
from physical_ai.subscription.answers import Unanswered
from physical_ai.subscription.rest import Get
from workbench.recordings.arm_reader import ArmReader, entry_of, unread
from workbench.recordings.asking import Say
from workbench.recordings.firewalls import firewall_entries
from workbench.recordings.form import Entry
from workbench.recordings.questions import Limits

RESOURCES_VERSION = "2021-04-01"
CHILDREN: Mapping[str, tuple[str, ...]] = {
    "microsoft.containerservice/managedclusters": ("agentPools", "maintenanceConfigurations"),
    "microsoft.managedidentity/userassignedidentities": ("federatedIdentityCredentials",),
    "microsoft.dbforpostgresql/flexibleservers": ("databases", "firewallRules"),
    "microsoft.cache/redisenterprise": ("databases",),
    "microsoft.storage/storageaccounts": ("blobServices", "managementPolicies"),
    "microsoft.containerregistry/registries": ("cacheRules",),
    "microsoft.network/virtualnetworks": ("virtualNetworkPeerings",),
    "microsoft.network/privatednszones": ("virtualNetworkLinks",),
    "microsoft.network/dnsresolvers": ("inboundEndpoints",),
}
"""Types of child resources, by the ARM type of their parent. The list of a resource group does not contain them."""
OF_SCOPE = ("Microsoft.Insights/diagnosticSettings",)
"""Types of extension resources that are listed for the AKS cluster, below the cluster's own id."""


def azure_entries(get: Get, group: str, limits: Limits, say: Say, until: float = math.inf) -> Iterator[Entry]:
    """Entries with the bodies of a resource group, of its resources, of their child resources, and of the firewalls
    that its routes lead to.

    Args:
        group: ARM id of the resource group.
        until: Time of the monotonic clock after which nothing more is read.
    """
    read = ArmReader(get, limits, until)
    try:
        yield entry_of(group, "Microsoft.Resources/resourceGroups", RESOURCES_VERSION, read(group, RESOURCES_VERSION))
        rows = sorted(read.rows(f"{group}/resources", RESOURCES_VERSION), key=lambda each: str(each.get("id")).lower())
    except Unanswered as problem:
        yield unread(f"Azure's resources of {group}", problem)
        return
    bodies: list[Mapping[str, Any]] = []
    for each in _resources(read, rows, say):
        bodies += [each["body"]] if each["kind"] == "azure" else []
        yield each
    yield from firewall_entries(read, bodies, group)


def _resources(read: ArmReader, rows: Sequence[Mapping[str, Any]], say: Say) -> Iterator[Entry]:
    for number, row in enumerate(rows):
        say(f"Azure: {number + 1} of {len(rows)} resources")
        id_, type_ = str(row.get("id", "")), str(row.get("type", ""))
        version = version_of(type_)
        if not version or not id_.startswith("/"):
            yield unread(id_, f"no API version of {type_} is known")
            continue
        try:
            yield entry_of(id_, type_, version, read(id_, version))
        except Unanswered as problem:
            yield unread(id_, problem)
            continue
        yield from _below(read, id_, type_)


def _below(read: ArmReader, id_: str, type_: str) -> Iterator[Entry]:
    lists = [(f"{id_}/{each}", f"{type_}/{each}") for each in CHILDREN.get(type_.lower(), ())]
    if type_.lower() == "microsoft.containerservice/managedclusters":
        lists += [(f"{id_}/providers/{each}", each) for each in OF_SCOPE]
    for path, kind in lists:
        version = version_of(kind)
        try:
            for row in read.rows(path, version) if version else ():
                yield entry_of(str(row.get("id", path)), kind, version, row)
        except Unanswered as problem:
            yield unread(path, problem)


def version_of(type_: str) -> str:
    """The API version that the program uses for a resource type; empty if the program has no resource of the type."""
    known = {name.lower(): each.sent for name, each in api_versions().types.items()}
    return known.get(type_.lower(), "")
