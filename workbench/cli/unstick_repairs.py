"""Repairs of a stack that a run has left unfinished: commands that remove the lock, settle pending operations, and roll
back or uninstall stuck Helm releases. Pure functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from physical_ai.readiness.releases import NOT_INSTALLED, StuckRelease
from workbench.cli.adoption import assume_created, with_inputs_of


@dataclass(frozen=True)
class Command:
    words: tuple[str, ...]
    edit: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None
    """Function that edits the stack's exported deployment; the command then reads the result from standard input. None
    for a command without input.
    """


@dataclass(frozen=True)
class Repair:
    """One step of the repair of a stack: the problem, the commands in their order, and their effect."""

    problem: str
    commands: tuple[Command, ...]
    effect: str

    def document(self) -> dict[str, Any]:
        commands = [list(each.words) for each in self.commands]
        return {"problem": self.problem, "commands": commands, "effect": self.effect}


def repairs(
    stack: str,
    deployment: Mapping[str, Any],
    releases: Sequence[StuckRelease],
    locks: Sequence[Mapping[str, Any]] = (),
) -> list[Repair]:
    """The repairs in order: first the lock, which blocks the others, then the state, which the next run reads, then the
    Helm releases.

    Args:
        deployment: The key `deployment` in the output of `pulumi stack export`.
        releases: Helm releases that an interrupted operation has left in a pending status.
        locks: `pid`, `username`, `hostname` and `timestamp` of each lock.
    """
    return [*_locks(stack, locks), *_pending(stack, deployment, releases), *_releases(releases)]


def unlock(stack: str, holder: str = "another run") -> Repair:
    """The repair that removes the lock of a stack."""
    return Repair(
        f"The stack is locked by {holder}.",
        (Command(("pulumi", "cancel", stack, "--yes")),),
        "Removes the lock, and nothing else. Two concurrent runs overwrite each other's state: make sure that this one "
        "has ended.",
    )


def _locks(stack: str, locks: Sequence[Mapping[str, Any]]) -> Iterator[Repair]:
    if locks:
        each = locks[0]
        holder = (
            f"{each.get('username')}@{each.get('hostname')}, process {each.get('pid')}, since {each.get('timestamp')}"
        )
        yield unlock(stack, holder)


def _pending(stack: str, deployment: Mapping[str, Any], releases: Sequence[StuckRelease]) -> Iterator[Repair]:
    pending: list[dict[str, Any]] = deployment.get("pending_operations") or []
    if not pending:
        return
    operations = ", ".join(f"{each['type']} {_name(each['resource']['urn'])}" for each in pending)
    uninstalled = [f"{each.namespace}/{each.name}" for each in releases]
    write = ("pulumi", "stack", "import", "--stack", stack)
    commands = [Command(write, lambda now: assume_created(now, uninstalled).deployment)]
    effect = "Forgets them, as the next `pulumi up` repeats them."
    adoption = assume_created(deployment, uninstalled)
    if adoption.assumed:
        targets = [word for urn in adoption.assumed for word in ("--target", f"**::{_name(urn)}")]
        commands.append(Command(("pulumi", "refresh", "--stack", stack, "--yes", *targets)))
        commands.append(Command(write, lambda now: with_inputs_of(adoption, now)))
        names = ", ".join(map(_name, adoption.assumed))
        effect = (
            f"Takes over {names} as far as they exist, in Azure or in the cluster, with the inputs of their creation, "
            "and forgets the others."
        )
    yield Repair(
        f"The state has unfinished operations: {operations}.",
        tuple(commands),
        effect,
    )


def _name(urn: str) -> str:
    return urn.rpartition("::")[2]


def _releases(stuck: Sequence[StuckRelease]) -> Iterator[Repair]:
    for each in stuck:
        if each.status == NOT_INSTALLED:
            continue
        place = (each.name, "--namespace", each.namespace)
        problem = f"Helm release {each.namespace}/{each.name} is {each.status} in revision {each.revision}."
        if each.can_roll_back and each.status != "uninstalling":
            effect = (
                "Returns to the last revision that worked. The next `pulumi up` without --refresh repeats the change."
            )
            yield Repair(problem, (Command(("helm", "rollback", *place)),), effect)
        else:
            effect = "Removes what was installed of it. The next `pulumi up --refresh` installs it again."
            yield Repair(problem, (Command(("helm", "uninstall", *place)),), effect)
