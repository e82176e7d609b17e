"""Reading of a subscription for a recording: the body of each of the stack's resources, as a GET returns it."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from typing import Any

from physical_ai.catalog.api_versions import api_versions
from physical_ai.nested import is_mapping, mappings
from physical_ai.subscription.answers import Unanswered
from physical_ai.subscription.rest import ARM, Get
from workbench.recordings.asking import Say, size_of
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
    "microsoft.network/privatednszones": ("virtualNetworkLinks",),
    "microsoft.network/dnsresolvers": ("inboundEndpoints",),
}
"""Types of child resources, by the ARM type of their parent. The list of a resource group does not contain them."""
OF_SCOPE = ("Microsoft.Insights/diagnosticSettings",)
"""Types of extension resources that are listed for the AKS cluster, below the cluster's own id."""
MOST_PAGES = 50


class _Reader:
    """Client for GET requests to ARM that stops at the limits on requests, bytes and time."""

    def __init__(self, get: Get, limits: Limits, until: float) -> None:
        self._get, self._limits, self._until = get, limits, until
        self.requests, self.bytes = 0, 0

    def __call__(self, path: str, version: str) -> Any:
        if self.requests >= self._limits.requests or self.bytes >= self._limits.mebibytes << 20:
            raise Unanswered(f"{path}: not read any more: {self.requests} requests, {self.bytes >> 20} MiB")
        if time.monotonic() > self._until:
            raise Unanswered(f"{path}: not read any more: {self._limits.seconds:g} s are over")
        self.requests += 1
        answer = self._get(path, {} if "api-version=" in path else {"api-version": version})
        self.bytes += size_of(answer)
        return answer

    def rows(self, path: str, version: str) -> Iterator[Mapping[str, Any]]:
        """Entries of a list, from all its pages. Raises Unanswered if a page is not usable or a limit is reached."""
        for _ in range(MOST_PAGES):
            answer = self(path, version)
            if not is_mapping(answer):
                raise Unanswered(f"{path}: the answer is no object")
            yield from mappings(answer.get("value"))
            following = answer.get("nextLink")
            if not isinstance(following, str) or not following:
                return
            if not following.startswith(f"{ARM}/"):
                raise Unanswered(f"{path}: Azure refers to another host")
            path = following
        raise Unanswered(f"{path}: the list does not end")


def azure_entries(get: Get, group: str, limits: Limits, say: Say, until: float = math.inf) -> Iterator[Entry]:
    """Entries with the bodies of a resource group, of its resources, and of their child resources.

    Args:
        group: ARM id of the resource group.
        until: Time of the monotonic clock after which nothing more is read.
    """
    read = _Reader(get, limits, until)
    try:
        yield _entry(group, "Microsoft.Resources/resourceGroups", RESOURCES_VERSION, read(group, RESOURCES_VERSION))
        rows = sorted(read.rows(f"{group}/resources", RESOURCES_VERSION), key=lambda each: str(each.get("id")).lower())
    except Unanswered as problem:
        yield {"kind": "unread", "what": f"Azure's resources of {group}", "reason": str(problem)}
        return
    for number, row in enumerate(rows):
        say(f"Azure: {number + 1} of {len(rows)} resources")
        id_, type_ = str(row.get("id", "")), str(row.get("type", ""))
        version = version_of(type_)
        if not version or not id_.startswith("/"):
            yield {"kind": "unread", "what": id_, "reason": f"no API version of {type_} is known"}
            continue
        try:
            yield _entry(id_, type_, version, read(id_, version))
        except Unanswered as problem:
            yield {"kind": "unread", "what": id_, "reason": str(problem)}
            continue
        yield from _below(read, id_, type_)


def _below(read: _Reader, id_: str, type_: str) -> Iterator[Entry]:
    lists = [(f"{id_}/{each}", f"{type_}/{each}") for each in CHILDREN.get(type_.lower(), ())]
    if type_.lower() == "microsoft.containerservice/managedclusters":
        lists += [(f"{id_}/providers/{each}", each) for each in OF_SCOPE]
    for path, kind in lists:
        version = version_of(kind)
        try:
            for row in read.rows(path, version) if version else ():
                yield _entry(str(row.get("id", path)), kind, version, row)
        except Unanswered as problem:
            yield {"kind": "unread", "what": path, "reason": str(problem)}


def version_of(type_: str) -> str:
    """The API version that the program uses for a resource type; empty if the program has no resource of the type."""
    known = {name.lower(): each.sent for name, each in api_versions().types.items()}
    return known.get(type_.lower(), "")


def _entry(id_: str, type_: str, version: str, body: Any) -> Entry:
    if not is_mapping(body):
        raise Unanswered(f"{id_}: the answer is no object")
    return {"kind": "azure", "id": id_, "type": type_, "apiVersion": version, "body": dict(body)}
