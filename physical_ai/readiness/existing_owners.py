"""Judgement of an existing cluster for a stack: its nodes, and objects in it that belong to other owners.

`physai check`, previews and deployments share this judgement, so that all of them find the same problems. Pure
functions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from physical_ai.catalog.osmo import KAI_NAMESPACE
from physical_ai.findings import Finding, Severity
from physical_ai.kubernetes.objects import annotations_of, labels, name
from physical_ai.planning.namespaces import created
from physical_ai.planning.plan import Plan
from physical_ai.readiness.existing import NodeChange, Survey, changes
from physical_ai.readiness.installed_driver import OWNERS, OWNERS_SOURCE
from physical_ai.readiness.installed_operator import RELEASE_NAMESPACE, InstalledOperator, differences
from physical_ai.readiness.model import Json
from physical_ai.settings import Settings
from physical_ai.settings.facts.gpu import OPERATOR_NAMESPACE, installs_operator

USE = "gpuOperator.existing: use"
UNINSTALL = (
    "To let the stack install its own, uninstall it first: its drivers leave the nodes, and work on their GPUs ends."
)


NODES, CLUSTER = "nodes", "the cluster"
NODES_FIX = "The stack is not deployed before this is corrected."
OWNERS_FIX = "The stack is not deployed until this is resolved; nothing is changed."
NOTHING = Finding(
    Severity.OK,
    OWNERS,
    CLUSTER,
    "The stack would not change any resource of another owner.",
    None,
    OWNERS_SOURCE,
)


@dataclass(frozen=True)
class Judgement:
    """Result of judging an existing cluster: the changes that a deployment would make to its nodes, and findings."""

    changes: Sequence[NodeChange]
    findings: Sequence[Finding]
    """Findings about the cluster.

    Errors are about nodes that cannot be in their class, or about objects of another owner; the other findings report
    how the stack uses such objects, where the settings allow that.
    """

    @property
    def problems(self) -> list[str]:
        """Problems because of which a deployment stops before anything is changed."""
        return [each.problem for each in self.findings if each.is_error]

    @property
    def notes(self) -> list[str]:
        """Notes to print in a deployment that continues."""
        found = [each for each in self.findings if not each.is_error and each is not NOTHING]
        return [each.problem for each in sorted(found, key=lambda each: each.severity.rank)]


def judge(settings: Settings, plan: Plan, found: Survey) -> Judgement:
    """Judgement of the cluster for a deployment of the stack."""
    given, problems = changes(settings, found)
    owners = [*_namespaces(settings.stack, created(settings, plan), found), *_scheduler(settings, plan, found)]
    operator, notes = _operator(settings, plan, found, given)
    findings = [Finding(Severity.ERROR, NODES, "classes", each, NODES_FIX, OWNERS_SOURCE) for each in problems]
    owned = [_owned(Severity.ERROR, each, OWNERS_FIX) for each in (*owners, *operator)]
    differing = [_owned(Severity.WARNING, each) for each in notes[1:]]
    used = [] if owned else [_owned(Severity.OK, notes[0]) if notes else NOTHING]
    return Judgement(given, [*findings, *owned, *differing, *used])


def _owned(severity: Severity, problem: str, fix: str | None = None) -> Finding:
    return Finding(severity, OWNERS, CLUSTER, problem, fix, OWNERS_SOURCE)


def _namespaces(stack: str, wanted: Sequence[str], found: Survey) -> Iterator[str]:
    there = found.owners
    for other in sorted({owner for owner in there.values() if owner not in {None, stack}}, key=str):
        theirs = ", ".join(sorted(namespace for namespace, owner in there.items() if owner == other))
        yield (
            f"The cluster is of the stack {other} already (namespaces {theirs}): one cluster has one stack. Correct"
            f" target.context, or deploy {other} under its own name."
        )
    for namespace in sorted(set(wanted) & {each for each, owner in there.items() if owner is None}):
        yield f"The namespace {namespace} exists, and this stack has not created it."


def _scheduler(settings: Settings, plan: Plan, found: Survey) -> Iterator[str]:
    installs = KAI_NAMESPACE in created(settings, plan)
    if found.schedulers and installs and found.owners.get(KAI_NAMESPACE) != settings.stack:
        yield "The cluster has the scheduler KAI already (configs): two would change the same nodes and objects."


def _operator(
    settings: Settings, plan: Plan, found: Survey, given: Sequence[NodeChange]
) -> tuple[list[str], list[str]]:
    """Problems with a GPU Operator that the stack has not installed, and notes on how the stack uses it."""
    ours = found.owners.get(OPERATOR_NAMESPACE) == settings.stack
    foreign = [each for each in found.policies if not (ours and _is_in(each, OPERATOR_NAMESPACE))]
    installs = installs_operator(settings)
    if not foreign:
        if installs:
            return [], []
        whose = "is of this stack" if found.policies else "is not there"
        return [f"{USE} is set, and the cluster's GPU Operator {whose}: remove the setting."], []
    namespace = next((each for each in found.namespaces if name(each) == OPERATOR_NAMESPACE), None)
    operator = InstalledOperator(foreign, found.drivers, found.daemonsets, namespace)
    differing = differences(settings, plan.gpu, operator, _classes(found, given))
    stopping = [_line(each) for each in differing if each.is_error]
    others = [_line(each) for each in differing if not each.is_error]
    if not installs:
        used = (
            f"The GPU Operator {operator.title} is used as it is: the stack installs no release and no drivers of it."
        )
        return [f"The GPU Operator {operator.title} differs. {each}" for each in stopping], [used, *others]
    lines = [
        f"The cluster has the GPU Operator {operator.title} already, and this stack has not installed it: two would"
        " delete each other's DaemonSets.",
        f"  {USE} leaves it as it is, and the stack installs none. "
        + ("These would have to change first:" if stopping else "It fits this stack."),
        *(f"    {each}" for each in [*stopping, *others]),
        f"  {UNINSTALL}",
    ]
    return ["\n  ".join(lines)], []


def _line(difference: Finding) -> str:
    return f"{difference.where}: {difference.problem}. {difference.fix}"


def _is_in(policy: Json, namespace: str) -> bool:
    return annotations_of(policy).get(RELEASE_NAMESPACE, namespace) == namespace


def _classes(found: Survey, given: Sequence[NodeChange]) -> dict[str, list[Mapping[str, str]]]:
    """Labels of each node, by node class, including the labels that the stack gives."""
    held = {name(each): labels(each) for each in found.nodes}
    classes: dict[str, list[Mapping[str, str]]] = {}
    for change in given:
        classes.setdefault(change.pool, []).append({**held.get(change.node, {}), **change.labels})
    return classes
