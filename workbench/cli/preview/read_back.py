"""Changes of a preview that only remove values which Azure has added to a resource by itself. A refresh reads these
values into the state, although the program does not declare them.

The catalogue's `tolerated_differences.yaml` lists the values. For example, a cluster's GET lists every node pool, and
azure-native's Read takes elements that were added to a list into the inputs (pulumi/pulumi-azure-native#1532). After a
refresh, every preview therefore removes these pools from `agentPoolProfiles`, because the program declares only the
system pool there.

The engine cannot ignore single elements of a list. Ignoring the whole list would make later updates of the cluster send
outdated node counts (pulumi/pulumi-azure-native#2719).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from physical_ai.catalog.engine_values import UNKNOWN
from physical_ai.catalog.tolerated import ABSENT, Tolerated, tolerated, tolerated_differences, without_added
from physical_ai.nested import at_path, path_parts
from workbench.cli.changes import Run, Step


def significant(run: Run) -> list[Step]:
    """The changes of a run, without those that the function `read_back` returns."""
    left_out = {step.urn for step in read_back(run)}
    return [step for step in run.changed() if step.urn not in left_out]


def read_back(run: Run) -> list[Step]:
    """Changes of a run that only remove values which Azure has added by itself, and changes that are only consequences
    of such removals.

    The second kind exists because a preview treats all outputs of an updated cluster as unknown. Every resource that
    uses such an output then seems to change, too.
    """
    changed = run.changed()
    listed = {step.urn for step in changed if _only_tolerated(step)}
    return [step for step in changed if step.urn in listed or (listed and _only_unknown(step))]


def significant_drift(run: Run) -> list[Step]:
    """Differences that a refresh found, without values that Azure adds by itself."""
    return [step for step in run.drifted() if not _only_tolerated(step)]


def reasons(steps: Iterable[Step]) -> list[str]:
    """Reasons that the catalogue gives for not counting the changes `steps`, without duplicates."""
    found = [row.reason for step in steps for path in step.properties if (row := _row(step, path)) is not None]
    return list(dict.fromkeys(found))


def _only_tolerated(step: Step) -> bool:
    if step.op not in ("update", "refresh") or step.gone or not step.properties:
        return False
    return all(_row(step, path) is not None for path in step.properties) or _equal_without(step)


def _equal_without(step: Step) -> bool:
    """True if a resource's inputs before and after the change differ only in values that Azure has added, or in the
    order of lists.
    """
    tops = {path_parts(path)[0] for path in step.properties}
    known = {name for row in tolerated_differences() if row.type == step.type for name in row.lists}
    if not tops <= known:
        return False
    return all(
        without_added(step.type, top, step.old.get(top)) == without_added(step.type, top, step.new.get(top))
        for top in tops
    )


def _row(step: Step, path: str) -> Tolerated | None:
    before, after = (at_path(side, path, ABSENT) for side in (step.old, step.new))
    return tolerated(step.type, path, before, after)


def _only_unknown(step: Step) -> bool:
    return step.op == "update" and _all(step, lambda path: at_path(step.new, path) == UNKNOWN)


def _all(step: Step, holds: Callable[[str], object]) -> bool:
    return bool(step.properties) and all(holds(path) for path in step.properties)
