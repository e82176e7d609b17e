"""Causes of one node's problems, derived from its signs: each is named once, the most specific first, with one remedy.

Pure functions.

A sign that a more specific cause explains becomes evidence of that cause. A sign that has no row in the table of node
causes becomes a cause of its own, with its original text. No sign is dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from physical_ai.catalog.acceptance import AcceptanceLevel
from physical_ai.catalog.node_causes import Remedy, remedy_text
from physical_ai.readiness.nodes.raw import Raw, most
from physical_ai.readiness.nodes.reading import raws
from physical_ai.readiness.nodes.signs import NodeSigns

RESTART_PLUGIN = (
    "kubectl delete pod --namespace gpu-operator --selector app=nvidia-device-plugin-daemonset --field-selector"
    " spec.nodeName={node} starts the device plugin again, which then offers the GPU."
)


@dataclass(frozen=True)
class NodeFinding:
    """One cause of a node's problems."""

    cause: str
    reason: str
    fix: str
    signs: tuple[str, ...]
    """Signs of the cause: the original text of each sign, with the source from which it was read."""
    waits: bool
    remedy: Remedy | None
    alerts: tuple[str, ...] = ()
    """Names of the alerts that the cause explains."""
    gate: bool = False
    """True for a cause that explains the closed gate, or why the node is not Ready."""
    proof: AcceptanceLevel | None = None
    """Acceptance level that the node has to pass after the remedy; None if no acceptance is needed."""


def findings_of(signs: NodeSigns) -> tuple[NodeFinding, ...]:
    """All causes of a node's problems: first those that need an action, and among these the more specific first."""
    kept: list[tuple[Raw, list[Raw]]] = []
    for each in sorted(_merged(raws(signs)), key=lambda one: (one.past, one.rank)):
        by = next((evidence for other, evidence in kept if other.explains(each)), None)
        if by is None:
            kept.append((each, []))
        else:
            by.append(each)
    # A sign that may be over is not reported as a present fault, unless it explains one.
    now = [(each, evidence) for each, evidence in kept if not each.past]
    now = [_explained_by_the_past(each, evidence, kept) for each, evidence in now]
    now = [(_after_a_job(each, [one for one, _ in kept], signs), evidence) for each, evidence in now]
    machine = _strongest((each for each, _ in now), restarted=signs.restarted)
    found = [_finding(each, evidence, machine, signs) for each, evidence in now]
    return tuple(sorted(found, key=lambda each: each.waits))


def _explained_by_the_past(
    each: Raw, evidence: list[Raw], kept: Sequence[tuple[Raw, list[Raw]]]
) -> tuple[Raw, list[Raw]]:
    """Sign to report for `each`, with its evidence: the earlier Xid of the machine that explains `each`, with `each` as
    further evidence; without such an Xid, `each` and `evidence` unchanged.
    """
    before = next((one for one, _ in kept if one.past and one.remedy and one.explains(each)), None)
    if before is None:
        return each, evidence
    return replace(before, past=False), [each, *evidence]


def advice_of(findings: Iterable[NodeFinding]) -> Remedy | None:
    """Repair of the machine that the findings advise; None where no finding advises a restart or a replacement."""
    return next((each.remedy for each in findings if each.remedy is not None), None)


def _merged(given: Iterable[Raw]) -> list[Raw]:
    """Signs on a node, where signs that have the same cause and may be about the same GPU are merged into one."""
    found: list[Raw] = []
    for each in given:
        same = next((index for index, one in enumerate(found) if one.is_same(each)), None)
        if same is None:
            found.append(each)
        else:
            found[same] = found[same].joined(each)
    return found


def _after_a_job(each: Raw, kept: Sequence[Raw], signs: NodeSigns) -> Raw:
    """Returns the sign `each`, usually unchanged. If the device plugin withholds a GPU only because of an Xid that a
    program caused, the returned sign advises a restart of the plugin, because the GPU works
    (NVIDIA/k8s-device-plugin#1014).
    """
    codes = [one.code for one in kept if "job" in one.groups and one.is_of_gpu(each)]
    machine = any(one.remedy and one is not each for one in kept)
    if each.row != "gpu-unhealthy" or not codes or machine:
        return each
    listed = ", ".join(f"Xid {code}" for code in dict.fromkeys(codes))
    reason = f"The device plugin no longer offers a GPU since {listed}, which a program caused: the GPU works."
    return replace(each, remedy=None, reason=reason, fix=RESTART_PLUGIN.format(node=signs.name))


def _strongest(kept: Iterable[Raw], *, restarted: bool) -> Remedy | None:
    remedies = {each.remedy for each in kept} - {None}
    if "replace" in remedies or (remedies and restarted):
        return "replace"
    return "reboot" if remedies else None


def _finding(each: Raw, absorbed: Sequence[Raw], machine: Remedy | None, signs: NodeSigns) -> NodeFinding:
    of_all = [each, *absorbed]
    text = {
        remedy: remedy_text(remedy, node=signs.name, stack=signs.stack, azure=not signs.existing)
        for remedy in ("reboot", "replace")
    }
    if each.remedy is not None and machine is not None:
        fix = text[machine]
    else:
        fix = each.fix.replace("{replace}", text["replace"]).replace("{reboot}", text["reboot"])
    alerts = tuple(dict.fromkeys(alert for one in of_all for alert in one.alerts))
    shown = tuple(dict.fromkeys(text for one in of_all for text in one.shown))
    return NodeFinding(
        cause=each.cause,
        reason=each.reason,
        fix=fix,
        signs=shown,
        # A cause that usually ends by itself has not ended if an alert that waits for its end fires.
        waits=each.waits and not each.overdue([alert for one in absorbed for alert in one.alerts]),
        remedy=machine if each.remedy is not None else None,
        alerts=alerts,
        gate=any(one.gate for one in of_all),
        proof=most(one.proof for one in of_all) if each.remedy is not None else None,
    )
