"""PodDisruptionBudgets that make AKS refuse an upgrade before the upgrade begins (error UnsatisfiablePDB).

Pure functions, except `blocking`.

Before AKS upgrades the Kubernetes version or node image of any pool, it reads all budgets of the cluster, and refuses
the upgrade if one of them can never allow an eviction (learn.microsoft.com, unsatisfiablepdb-error; Azure/AKS#4805,
#4839). If the cluster's settings force upgrades until a certain time, AKS ignores the budgets until then.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from physical_ai.citations import cited
from physical_ai.nested import at
from physical_ai.readiness.reader import Get, listed

PATH = "/apis/policy/v1/poddisruptionbudgets"
FORCE_SETTING = "cluster.upgrades.forceUntil"
Inputs = Mapping[str, Any] | None


def never_lets_go(budget: Mapping[str, Any]) -> str | None:
    """Reason why `budget` can never allow an eviction, so that AKS refuses upgrades; None if it can allow an
    eviction.
    """
    spec: Mapping[str, Any] = budget.get("spec") or {}
    most, least = spec.get("maxUnavailable"), spec.get("minAvailable")
    if most is not None and str(most) in ("0", "0%"):
        return f"maxUnavailable is {most}"
    pods = int(at(budget, "status.expectedPods") or 0)
    if least is None or str(least) in ("0", "0%"):
        return None
    needed = _number(least, pods)
    return f"minAvailable is {least}, of {pods} {'Pod' if pods == 1 else 'Pods'}" if needed >= pods else None


def _number(amount: Any, pods: int) -> int:
    text = str(amount)
    return -(-pods * int(text[:-1]) // 100) if text.endswith("%") else int(text)


def blocking(get: Get) -> list[str]:
    """PodDisruptionBudgets in a cluster that make AKS refuse upgrades, each as a text with its reason.

    Raises the exceptions of `get`.
    """
    return list(named(listed(get, PATH)))


def named(budgets: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """PodDisruptionBudgets among `budgets` that make AKS refuse upgrades, each as a text with its reason."""
    for each in budgets:
        if (why := never_lets_go(each)) is not None:
            yield f"{at(each, 'metadata.namespace')}/{at(each, 'metadata.name')} ({why})"


def is_upgrade(old: Inputs, new: Inputs) -> bool:
    """True where the change of a cluster's or a pool's inputs changes a Kubernetes version."""
    return bool(old) and _versions(old) != _versions(new)


def _versions(inputs: Inputs) -> list[Any]:
    given = inputs or {}
    profiles = cast("list[Mapping[str, Any]]", given.get("agentPoolProfiles") or [])
    own = [given.get(name) for name in ("kubernetesVersion", "orchestratorVersion")]
    return [*own, *(each.get("orchestratorVersion") for each in profiles)]


def is_forced(until: datetime.datetime | None, now: datetime.datetime) -> bool:
    """True where an upgrade that starts now ignores the PodDisruptionBudgets."""
    return until is not None and now < until


def refusal(found: Sequence[str], until: datetime.datetime | None) -> str | None:
    """Error message about an upgrade that AKS would refuse because of the PodDisruptionBudgets `found`; None if `found`
    is empty. `until`: time until which upgrades were forced, now past.
    """
    if not found:
        return None
    passed = f" {FORCE_SETTING} {until.isoformat()} has passed." if until is not None else ""
    return cited(
        f"AKS refuses an upgrade while a PodDisruptionBudget allows no eviction (UnsatisfiablePDB): {'; '.join(found)}."
        f"{passed} Change the budget, or set {FORCE_SETTING} to a time soon after the upgrade begins: a forced upgrade"
        " drains every node whatever its budgets, and ends what runs there (docs/settings.md, when nodes are reimaged)."
    )
