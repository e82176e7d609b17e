"""Causes read from the state of a node pool in Azure, and from the autoscaler's status. They explain a missing node
even after the events about Azure's refusal have expired. Pure functions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from physical_ai.kubernetes.objects import Json, at
from physical_ai.readiness.causes import azure_error_of
from physical_ai.readiness.workloads.index import Index
from physical_ai.readiness.workloads.model import DeclaredPool, Explanation

SUCCEEDED = "Succeeded"
CHANGING = ("Creating", "Updating", "Upgrading", "Scaling", "Starting", "UpgradingNodeImageVersion", "Migrating")


def node_group(declared: DeclaredPool, status: Mapping[str, Any]) -> Json | None:
    """Group of the pool (its scale set, `aks-POOL-12345678-vmss`) in the autoscaler's status; None if not listed."""
    groups: list[Json] = at(status, "nodeGroups", [])
    return next((each for each in groups if str(each.get("name", "")).startswith(f"aks-{declared.name}-")), None)


def backoff(declared: DeclaredPool, status: Mapping[str, Any]) -> str:
    """Azure's last refusal to add a node to the pool, if the autoscaler pauses because of the refusal; empty if the
    autoscaler does not pause.
    """
    group = node_group(declared, status)
    if group is None or at(group, "scaleUp.status") != "Backoff":
        return ""
    code, message = (str(at(group, f"scaleUp.backoffInfo.{key}", "") or "") for key in ("errorCode", "errorMessage"))
    return f"scaleUp: Backoff {code} {message}".strip()


def pool_state(item: str, declared: DeclaredPool, index: Index) -> Explanation | None:
    """Explanation of why Azure adds no node to the pool now: the pool does not exist, is stopped, has failed, or is
    being changed. None if Azure was not asked, or if the pool is in none of these states.
    """
    azure = index.given.azure
    if azure is None:
        return None
    facts = {"pool": declared.name, "size": declared.size}
    body = azure.get(declared.name)
    if body is None:
        return index.explanation(item, "azure-pool-missing", "capacity", "not in the cluster's list of pools", **facts)
    power = str(at(body, "powerState.code", "") or "")
    state = str(body.get("provisioningState") or SUCCEEDED)
    if power == "Stopped":
        return index.explanation(item, "azure-pool-stopped", "capacity", f"powerState: {power}", **facts)
    if state in ("Failed", "Canceled"):
        why = str(at(body, "status.provisioningError.message", "") or "")
        # An unknown code is shown in Azure's own words.
        known = azure_error_of(f"{at(body, 'status.provisioningError.code', '') or ''} {why}")
        cause = known.id if known is not None and known.reason else "azure-pool-failed"
        return index.explanation(
            item, cause, "capacity", f"provisioningState: {state} {why}".strip(), state=state, **facts
        )
    if state in CHANGING:
        return index.explanation(
            item, "azure-pool-changing", "capacity", f"provisioningState: {state}", state=state, **facts
        )
    return None


def not_managed(item: str, declared: DeclaredPool, index: Index) -> Explanation | None:
    """Explanation for an autoscaled pool that is missing from the autoscaler's status although the status lists other
    pools; None for any other pool.
    """
    status = index.given.autoscaler
    if not declared.autoscaled or not at(status, "nodeGroups", []) or node_group(declared, status) is not None:
        return None
    groups = ", ".join(str(each.get("name", "")) for each in at(status, "nodeGroups", []))
    return index.explanation(item, "autoscaler-ignores-pool", "capacity", f"nodeGroups: {groups}", pool=declared.name)
