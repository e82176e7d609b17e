"""Rules on storage accounts, their containers and lifecycle rules."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from simulator.azure import ids
from simulator.azure.bodies import Json, get, items, table
from simulator.azure.data import load_json
from simulator.azure.errors import Refusal
from simulator.azure.rules.base import Put, on_put, refuse

CONTAINER = re.compile(r"^(\$root|\$web|[a-z0-9](-?[a-z0-9])+)$")
HNS_KINDS = ("StorageV2", "BlockBlobStorage")


@on_put(
    "StorageAccount",
    "st-hns-versioning",
    "st-tier",
    "st-tier-premium",
    "st-nfs",
    "st-zones",
    "st-kind-sku",
    "st-sku-offered",
)
def account(put: Put) -> Iterator[Refusal]:
    kind, hns = put.body.get("kind"), put.properties.get("isHnsEnabled") is True
    if hns and kind not in HNS_KINDS:
        message = f"An account of the kind {kind} has no hierarchical namespace."
        yield refuse(put, "st-hns-versioning", message, "properties.isHnsEnabled")
    tier = put.properties.get("accessTier")
    if tier is not None and (kind == "Storage" or (kind == "BlockBlobStorage" and tier != "Premium")):
        yield refuse(put, "st-tier", f"An account of the kind {kind} has no tier {tier}.", "properties.accessTier")
    if tier == "Premium" and kind != "BlockBlobStorage":
        message = f"An account of the kind {kind} has no tier Premium."
        yield refuse(put, "st-tier-premium", message, "properties.accessTier")
    if put.properties.get("isNfsV3Enabled") and not hns:
        yield refuse(put, "st-nfs", "NFS 3.0 needs the hierarchical namespace.", "properties.isNfsV3Enabled")
    region, sku = put.azure.offers.region(str(put.body.get("location", ""))), str(get(put.body, "sku.name"))
    kinds: dict[str, dict[str, list[str]]] = load_json("storage_skus.json")
    if (row := kinds.get(str(kind))) is not None and sku not in row["skus"]:
        message = f"An account of the kind {kind} has no redundancy {sku}; it has {', '.join(row['skus'])}."
        yield refuse(put, "st-kind-sku", message, "sku.name")
    if put.old is None and sku in put.azure.restrictions.absent:
        message = f"The requested redundancy {sku} is not available for this subscription in"
        yield refuse(put, "st-sku-offered", f"{message} location '{put.body.get('location')}'.", "sku.name")
    if region is not None and not region.zones and "ZRS" in sku:
        yield refuse(put, "st-zones", f"The redundancy {sku} is not available in {region.name}.", "sku.name")


@on_put("BlobContainer", "blob-name", "blob-public")
def container(put: Put) -> Iterator[Refusal]:
    if not CONTAINER.match(ids.name(put.id)) or not 3 <= len(ids.name(put.id)) <= 63:
        message = f"'{ids.name(put.id)}' must have 3 to 63 lowercase letters, digits and single hyphens."
        yield refuse(put, "blob-name", message, "name")
    holder = put.azure.get(ids.parent(ids.parent(put.id)), "StorageAccount")
    allowed = holder is None or get(holder.body, "properties.allowBlobPublicAccess") is True
    if put.properties.get("publicAccess") in ("Blob", "Container") and not allowed:
        message = "Public access is not permitted on this storage account."
        yield refuse(put, "blob-public", message, "properties.publicAccess")


@on_put("ManagementPolicy", "mp-rules", "mp-prefix")
def lifecycle(put: Put) -> Iterator[Refusal]:
    rules: list[Json] = items(put.properties, "policy.rules")
    for name, times in Counter(str(rule.get("name")) for rule in rules).items():
        if times > 1:
            yield refuse(put, "mp-rules", f"{times} rules are named '{name}'.", "properties.policy.rules")
    for index, rule in enumerate(rules):
        here = f"properties.policy.rules[{index}]"
        if not any(table(rule, f"definition.actions.{part}") for part in ("baseBlob", "snapshot", "version")):
            yield refuse(put, "mp-rules", f"The rule '{rule.get('name')}' has no action.", here)
        for prefix in items(rule, "definition.filters.prefixMatch"):
            if not CONTAINER.match(str(prefix).split("/", maxsplit=1)[0]):
                yield refuse(put, "mp-prefix", f"'{prefix}' does not begin with the name of a container.", here)
