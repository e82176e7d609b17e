"""Rules on Log Analytics workspaces and diagnostic settings."""

from __future__ import annotations

from collections.abc import Iterator

from simulator.azure.bodies import get, items
from simulator.azure.errors import Refusal
from simulator.azure.filled import categories
from simulator.azure.rules.base import Put, on_put, refuse
from simulator.azure.state import arm_type, kind_of

OPEN_SKUS = ("PerGB2018", "CapacityReservation", "LACluster")
LEVELS = (100, 200, 300, 400, 500, 1000, 2000, 5000, 10000, 25000, 50000)
LEAST_QUOTA_GB = 0.023


@on_put("Workspace", "law-retention", "law-sku", "law-capacity", "law-quota")
def workspace(put: Put) -> Iterator[Refusal]:
    sku, retention = get(put.properties, "sku.name"), put.properties.get("retentionInDays")
    if sku is not None and sku not in OPEN_SKUS and put.old is None:
        message = f"Pricing tier '{sku}' is closed for new workspaces; use PerGB2018."
        yield refuse(put, "law-sku", message, "properties.sku.name")
    if retention is not None and not 30 <= retention <= 730 and sku != "Free":
        message = f"retentionInDays {retention} is outside 30..730."
        yield refuse(put, "law-retention", message, "properties.retentionInDays")
    if sku == "CapacityReservation" and get(put.properties, "sku.capacityReservationLevel") not in LEVELS:
        message = f"capacityReservationLevel must be one of {', '.join(map(str, LEVELS))}."
        yield refuse(put, "law-capacity", message, "properties.sku.capacityReservationLevel")
    quota = get(put.properties, "workspaceCapping.dailyQuotaGb")
    if quota is not None and quota != -1 and quota < LEAST_QUOTA_GB:
        message = f"dailyQuotaGb {quota} must be -1 or at least {LEAST_QUOTA_GB}."
        yield refuse(put, "law-quota", message, "properties.workspaceCapping.dailyQuotaGb")


DESTINATIONS = ("workspaceId", "storageAccountId", "eventHubAuthorizationRuleId", "marketplacePartnerId")


@on_put("DiagnosticSetting", "diag-category")
def diagnostic_setting(put: Put) -> Iterator[Refusal]:
    """Refusals of a diagnostic setting whose watched resource or workspace does not exist, or that has no
    destination.
    """
    watched = str(put.inputs.get("resourceUri", ""))
    if kind_of(watched) and put.azure.get(watched) is None:
        yield refuse(put, "arm-child-parent", f"The Resource '{watched}' was not found.", code="ResourceNotFound")
    workspace_id = put.properties.get("workspaceId")
    if workspace_id and put.azure.get(workspace_id, "Workspace") is None:
        message = f"The workspace '{workspace_id}' was not found."
        yield refuse(put, "arm-ref-missing", message, "properties.workspaceId", "ResourceNotFound")
    if not any(put.properties.get(name) for name in DESTINATIONS):
        message = "At least one data sink needs to be specified."
        yield refuse(put, "arm-wrong-type", message, "properties", "BadRequest")
    known = categories().get(arm_type(watched).lower(), {})
    for name in ("logs", "metrics"):
        for each in items(put.properties, name):
            if known and each.get("category") and each["category"] not in known[name]:
                message = f"Category '{each['category']}' is not supported."
                yield refuse(put, "diag-category", message, f"properties.{name}")
