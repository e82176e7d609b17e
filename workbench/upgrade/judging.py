"""Refusals of an upgrade, with what to do instead, and the parts of the notes that a project needs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from physical_ai.releases.notes import Release, Step, between
from physical_ai.releases.takeover import deployed_version, problem, skipped
from physical_ai.releases.versions import Version


@dataclass(frozen=True)
class Journey:
    """An upgrade: the pinned version, the one that will be pinned, and the releases on the way, oldest first."""

    old: Version
    new: Version
    releases: tuple[Release, ...]

    @staticmethod
    def of(old: Version, new: Version, notes: Sequence[Release]) -> Journey:
        return Journey(old, new, tuple(between(notes, old, new)))

    @property
    def steps(self) -> list[Step]:
        """Steps of all releases on the way, those before the deployment first."""
        found = [step for release in self.releases for step in release.steps]
        return sorted(found, key=lambda step: step.when == "after")


def refusals(
    journey: Journey,
    notes: Sequence[Release],
    states: Mapping[str, Mapping[str, Any]],
    done: Collection[str],
) -> Iterator[str]:
    """Reasons why a project is not upgraded, each with advice; none if it may be.

    Args:
        notes: Notes of all releases that the new version knows.
        states: Outputs of deployed stacks, by the stack's name.
        done: Ids of the steps that a person has confirmed.
    """
    old, new = journey.old, journey.new
    if new < old:
        yield (
            f"requirements.txt pins version {old}, and {new} is older.\n"
            "  The way back is git's: revert the commit of the upgrade, then `make up` and `pulumi up`."
        )
        return
    if new == old:
        yield f"requirements.txt pins version {old} already.\n  Name another one: physai upgrade VERSION"
        return
    if (gap := skipped(notes, old, new)) is not None:
        yield gap[0].upper() + gap[1:]
    for stack, outputs in states.items():
        if (reason := problem(outputs, notes, new)) is not None:
            yield f"The stack {stack}: {reason}"
        elif (was := deployed_version(outputs)) is not None and new < was:
            yield (
                f"The stack {stack} was deployed by version {was}, which is newer than {new}.\n"
                f"  Upgrade to {was} or a later version: physai upgrade {was}"
            )
    for step in journey.steps:
        if step.required and step.when == "before" and step.id not in done:
            confirm = f"When it is done: physai upgrade {new} --done {step.id}"
            yield f"The step {step.id} comes first: {step.text}\n  {confirm}"
    if unknown := sorted(set(done) - {step.id for step in journey.steps}):
        yield f"--done {unknown[0]}: there is no such step between {old} and {new}.\n  {_steps(journey)}"


def _steps(journey: Journey) -> str:
    return f"Steps: {', '.join(step.id for step in journey.steps) or 'none'}."
