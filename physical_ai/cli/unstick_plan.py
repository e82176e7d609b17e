"""What repairs a stack that a run left unfinished. Pure: findings in, commands out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from physical_ai.readiness.releases import NOT_INSTALLED, StuckRelease

POOLS = "**azure-native:containerservice:AgentPool::**"


@dataclass(frozen=True)
class Repair:
    """One step: what is stuck, the command that repairs it, and its effect."""

    problem: str
    command: tuple[str, ...]
    effect: str

    def document(self) -> dict[str, Any]:
        return {"problem": self.problem, "command": list(self.command), "effect": self.effect}


def repairs(
    stack: str,
    deployment: Mapping[str, Any],
    releases: Sequence[StuckRelease],
    locks: Sequence[Mapping[str, Any]] = (),
) -> list[Repair]:
    """The steps in order: the lock, which refuses the others, the state, which the next run reads, the releases.

    `deployment` is that of `pulumi stack export`; `locks` are `pid`, `username`, `hostname` and `timestamp` of each.
    """
    return [*_locks(stack, locks), *_pending(stack, deployment), *_releases(releases)]


def unlock(stack: str, holder: str = "another run") -> Repair:
    """The step that removes a lock."""
    return Repair(
        f"The stack is locked by {holder}.",
        ("pulumi", "cancel", stack, "--yes"),
        "Removes the lock, and nothing else. Two runs at once write over each other's state: make sure that this one "
        "has ended.",
    )


def _locks(stack: str, locks: Sequence[Mapping[str, Any]]) -> Iterator[Repair]:
    if locks:
        each = locks[0]
        holder = (
            f"{each.get('username')}@{each.get('hostname')}, process {each.get('pid')}, since {each.get('timestamp')}"
        )
        yield unlock(stack, holder)


def _pending(stack: str, deployment: Mapping[str, Any]) -> Iterator[Repair]:
    pending: list[dict[str, Any]] = deployment.get("pending_operations") or []
    names = [f"{each['type']} {str(each['resource']['urn']).rpartition('::')[2]}" for each in pending]
    if names:
        yield Repair(
            f"The state has {len(names)} unfinished operations: {', '.join(names)}.",
            ("pulumi", "refresh", "--stack", stack, "--clear-pending-creates", "--target", POOLS, "--yes"),
            "Forgets them. What exists in Azure or in the cluster all the same, the next `pulumi up` names; "
            "docs/runbooks/cancelled-run.md says how to take it over.",
        )


def _releases(stuck: Sequence[StuckRelease]) -> Iterator[Repair]:
    for each in stuck:
        if each.status == NOT_INSTALLED:
            continue
        place = (each.name, "--namespace", each.namespace)
        problem = f"Helm release {each.namespace}/{each.name} is {each.status} in revision {each.revision}."
        if each.can_roll_back and each.status != "uninstalling":
            effect = "Returns to the last revision that worked. The next `pulumi up --refresh` repeats the change."
            yield Repair(problem, ("helm", "rollback", *place), effect)
        else:
            effect = "Removes what was installed of it. The next `pulumi up --refresh` installs it again."
            yield Repair(problem, ("helm", "uninstall", *place), effect)
