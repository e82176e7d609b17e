"""Locks of the subscription that keep a deployment from changing its resources. Pure functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from physical_ai.findings import Finding, Severity

TOPIC, SOURCE = "lock", "Azure"
READ_ONLY = "readonly"


def lock_findings(locks: Mapping[str, str], groups: Mapping[str, str], subscription: str) -> Iterator[Finding]:
    """Findings about locks on the subscription, on the stack's resource groups, and on the resources in the groups.

    Args:
        locks: Levels by the id of the lock.
        groups: Ids of the stack's resource groups, by name.
    """
    own, found = f"/subscriptions/{subscription}".lower(), 0
    for lock, level in locks.items():
        scope = lock.lower().partition("/providers/microsoft.authorization/locks/")[0]
        inside = any(f"{scope}/".startswith(f"{group.lower()}/") for group in groups.values())
        if scope != own and not inside:
            continue
        found += 1
        name = lock.rpartition("/")[2]
        if level.lower() == READ_ONLY:
            problem = f"The lock {name} ({level}) on {scope} lets nothing be created or changed there."
            fix = f"Its owner removes it: az lock delete --ids {lock}"
            yield Finding(Severity.ERROR, TOPIC, name, problem, fix, SOURCE)
        else:
            problem = f"The lock {name} ({level}) on {scope} lets nothing be removed or replaced there."
            yield Finding(Severity.INFO, TOPIC, name, problem, None, SOURCE)
    if not found:
        yield Finding(Severity.OK, TOPIC, "subscription", "no lock is in the way", None, SOURCE)
