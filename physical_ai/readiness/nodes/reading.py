"""Assignment of a node's signs to rows in the table of node causes; a sign without a row is a cause of its own.

Pure functions.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace

from physical_ai.catalog.acceptance import ACCEPTED_CONDITION
from physical_ai.catalog.node_causes import NodeCause, cause_of_alert, cause_of_gate, node_causes
from physical_ai.catalog.own_names import GRID_DRIVER_READY
from physical_ai.catalog.telemetry_rows import Xid, xids
from physical_ai.kubernetes.objects import Json, condition, is_ready, labels
from physical_ai.readiness.model import ClosedGate
from physical_ai.readiness.node_gates import MIG_CONFIG, MIG_STATE
from physical_ai.readiness.nodes.counts import SIZE_LABEL, counts
from physical_ai.readiness.nodes.raw import Raw
from physical_ai.readiness.nodes.signs import Alert, NodeSigns, is_not_known, unusual
from physical_ai.readiness.nodes.xid_text import codes_in, stated_advice
from physical_ai.readiness.objects import removal
from physical_ai.readiness.text import NOT_KNOWN

XID_ALERTS = ("GPUXidNodeFault", "GPUXidJobError", "GPUXidInformation", "GPUXidUnclear")
_RANKS: Mapping[str, int] = {cause: 100 + index for index, cause in enumerate(node_causes())}
GATE_RANK = _RANKS["node-not-ready"] - 0.5
"""Rank of a closed gate's own cause, between two groups of causes: causes of lower rank explain the gate, and the gate
explains causes of higher rank.
"""
OPERAND_RANK = _RANKS["node-deleted"] + 0.5
"""Rank of a failing Pod of the GPU stack, higher than the ranks of the node's own causes: each of these is more
specific, and explains why the Pod fails.
"""
_GPU, _CODE = re.compile(r"\bGPU:(\d+)\b"), re.compile(r"\bDCGM_[A-Z0-9_]+\b")
_DISPLAY = re.compile(r"\bGPU \{gpu\}")


def raws(signs: NodeSigns) -> Iterator[Raw]:
    """All signs of problems that are known of a node."""
    yield from _xids(signs)
    yield from _counts(signs)
    yield from _checks(signs)
    yield from _conditions(signs)
    yield from _labels(signs)
    yield from _leaving(signs)
    yield from _operands(signs)
    if signs.gate is not None:
        yield _gate(signs.gate, signs)
    elif signs.node is not None and not is_ready(signs.node) and condition(signs.node, "Ready"):
        ready = condition(signs.node, "Ready")
        said = f"{ready.get('reason', '')}: {ready.get('message', '')}"
        unready = _of_row(signs, node_causes()["node-not-ready"], f"condition Ready={ready.get('status')}: {said}")
        yield replace(unready, gate=True)
    for alert in signs.alerts:
        yield _alert(alert, signs)


def _of_row(signs: NodeSigns, row: NodeCause, shown: str, gpus: frozenset[str] = frozenset(), **facts: str) -> Raw:
    named = min(gpus, key=len, default="")
    reason = row.reason if named else _DISPLAY.sub("a GPU", row.reason)
    own = {"node": signs.name, "stack": signs.stack, "pool": signs.pool}
    known = defaultdict(lambda: "?", {**own, "gpu": named, **facts})
    # The commands for the machine are filled in later, when the remedy is chosen.
    fix = re.sub(
        r"\{(?!replace\}|reboot\})(\w+)\}",
        lambda key: known[key[1]],
        "" if row.remedy else row.advice(azure=not signs.existing),
    )
    return Raw(
        cause=row.id,
        rank=_RANKS[row.id],
        groups=frozenset({row.group}),
        reason=reason.format_map(known),
        shown=(shown,),
        yields=frozenset(row.yields),
        gpus=gpus,
        fix=fix,
        remedy=row.remedy,
        proof=row.proof,
        waits=row.waits,
        row=row.id,
    )


def _xids(signs: NodeSigns) -> Iterator[Raw]:
    for seen in (each for each in signs.seen if not each.old):
        gpus = frozenset(filter(None, (seen.gpu, seen.index)))
        where = f"{seen.source}{f', {seen.when}' if seen.when else ''}"
        yield replace(_xid(seen.code, gpus, f"Xid {seen.code} ({where})"), past=seen.past)


def _xid(code: int, gpus: frozenset[str], shown: str, said: str = "") -> Raw:
    """Sign for an Xid. `said`: the Xid's line in a log; empty if the line is not known."""
    known: Xid | None = xids().get(code)
    if known is not None and (advice := stated_advice(code, said)) is not None:
        known = known.model_copy(
            update={"xid_class": "node" if advice == "reboot" else "information", "repair": advice}
        )
    of = f" of GPU {min(gpus, key=len)}" if gpus else ""
    if known is None:
        reason = f"The driver reported Xid {code}{of}, which is not in this project's table."
        fix = "docs.nvidia.com/deploy/xid-errors says what it means; if it returns: {reboot}"
        return Raw(f"xid-{code}", 50, frozenset({"xid-unknown"}), reason, (shown,), gpus=gpus, fix=fix, code=code)
    reason = f"{known.meaning} (Xid {code}){of}."
    if known.xid_class == "node":
        groups, remedy = frozenset({"xid", f"xid-{code}", "machine"}), known.remedy
        if remedy == "none":
            return Raw(f"xid-{code}", 40, groups, reason, (shown,), gpus=gpus, fix=known.advice, code=code)
        # A repair of the machine ends all these causes; those that need the larger repair come first.
        rank = 10 if remedy == "replace" else 20
        return Raw(f"xid-{code}", rank, groups, reason, (shown,), gpus=gpus, remedy=remedy, proof="full", code=code)
    if known.xid_class == "unclear":
        found = Raw(
            f"xid-{code}", 50, frozenset({"xid-unknown"}), reason, (shown,), gpus=gpus, fix=known.advice, code=code
        )
        return replace(found, yields=frozenset({"xid", "machine"})) if known.companion else found
    note = " Nothing has to be done to the node." if known.xid_class == "job" else ""
    groups = frozenset({known.xid_class})
    fix = f"{known.advice}{note}"
    return Raw(f"xid-{code}", 60, groups, reason, (shown,), gpus=gpus, fix=fix, waits=True, code=code)


def _counts(signs: NodeSigns) -> Iterator[Raw]:
    size = labels(signs.node).get(SIZE_LABEL, "") if signs.node is not None else ""
    found = counts(signs.facts, size)
    if found.relation is not None:
        relation, reason = found.relation
        row = next(each for each in node_causes().values() if relation in each.counts)
        yield _of_row(signs, row, "the record of the machine (physai evidence)", reason=reason)


def _checks(signs: NodeSigns) -> Iterator[Raw]:
    result = condition(signs.node, ACCEPTED_CONDITION) if signs.node is not None else {}
    failed, shown = list(signs.failed_checks), "acceptance"
    if not failed and result and result.get("status") != "True":
        shown = f"condition {ACCEPTED_CONDITION}={result.get('status')}"
        parts = str(result.get("message") or result.get("reason") or "no message").split("; ")
        found = [each.partition(": ") for each in parts]
        failed = [(check, text) if colon else ("", check) for check, colon, text in found]
    for check, message in failed:
        row = next((each for each in node_causes().values() if check in each.checks), None)
        said = f"{check}: {message}" if check else message
        if row is not None:
            yield _of_row(signs, row, f"{shown}: {said}", reason=said)
            continue
        fix = f"Repair what the message names, then physai accept {signs.stack} --node {signs.name}"
        reason = f"The node did not pass acceptance: {said}"
        yield Raw(
            "node-failed-acceptance", GATE_RANK, frozenset({"acceptance"}), reason, (f"{shown}: {said}",), fix=fix
        )


def _conditions(signs: NodeSigns) -> Iterator[Raw]:
    for each in unusual(signs.node):
        kind = str(each.get("type", ""))
        if kind in ("Ready", ACCEPTED_CONDITION) or (kind == GRID_DRIVER_READY and signs.gate is not None):
            continue
        if is_not_known(each):
            yield _not_known(kind, each, signs)
        else:
            yield from _condition(kind, each, signs)


def _not_known(kind: str, given: Json, signs: NodeSigns) -> Raw:
    """Sign for a condition whose monitor could not determine whether the node has the fault."""
    said = ": ".join(filter(None, (str(given.get("reason", "")), str(given.get("message", "")))))
    shown = f"condition {kind}={given.get('status')}: {said}".rstrip(": ")
    reason = f"It is not known whether the node has {kind}: what sets the condition says {said or 'nothing'}"
    fix = (
        f"Find what sets {kind} (kubectl describe node {signs.name}), and why it could not look: its Pod on the node"
        " and its log say so."
    )
    return Raw(f"condition-{kind}", GATE_RANK + 0.3, frozenset({"condition"}), reason, (shown,), fix=fix)


def _condition(kind: str, given: Json, signs: NodeSigns) -> Iterator[Raw]:
    said = ": ".join(filter(None, (str(given.get("reason", "")), str(given.get("message", "")))))
    shown = f"condition {kind}={given.get('status')}: {said}"
    gpus = frozenset(_GPU.findall(said)) if len(set(_GPU.findall(said))) == 1 else frozenset[str]()
    rows = [row for row in node_causes().values() if set(row.codes) & set(_CODE.findall(said))]
    if rows:
        for row in rows:
            yield _of_row(signs, row, shown, gpus).in_group("condition")
        return
    row = next((row for row in node_causes().values() if row.has_condition(kind)), None)
    codes = codes_in(f"{kind} {said}")
    if row is not None and not codes:
        yield _of_row(signs, row, shown, gpus).in_group("condition")
    elif codes:
        for code in codes:
            yield _xid(code, gpus, shown, said).in_group("condition")
    else:
        reason = f"The node has the condition {kind}={given.get('status')}: {said}".rstrip(": ")
        since = f"kubectl describe node {signs.name} shows since when"
        fix = f"{NOT_KNOWN} {since}, and the documentation of what sets it says what to do."
        yield Raw(f"condition-{kind}", GATE_RANK + 0.2, frozenset({"condition"}), reason, (shown,), fix=fix)


def _labels(signs: NodeSigns) -> Iterator[Raw]:
    """Signs for labels by which a controller reports a failure, on a node whose gates are nevertheless open."""
    given = labels(signs.node) if signs.node is not None else {}
    if given.get(MIG_STATE) == "failed" and (signs.gate is None or signs.gate.cause != "mig-failed"):
        reason = "The MIG manager could not apply a layout to the node; its GPUs are offered as they were before."
        fix = (
            f"kubectl label node {signs.name} {MIG_STATE}- if the pool has no MIG; otherwise choose a layout that fits"
            f" with the label {MIG_CONFIG} (it is {given.get(MIG_CONFIG, 'not set')})."
        )
        shown = f"label {MIG_STATE}=failed"
        yield Raw("mig-failed", GATE_RANK + 0.1, frozenset({"label"}), reason, (shown,), fix=fix)


def _leaving(signs: NodeSigns) -> Iterator[Raw]:
    pending_removal = removal(signs.node) if signs.node is not None else None
    if pending_removal is not None:
        cause, shown = pending_removal
        yield _of_row(signs, node_causes()[cause], shown)


def _operands(signs: NodeSigns) -> Iterator[Raw]:
    """Signs for Pods of the GPU stack that fail, except the Pod that the closed gate is about."""
    known = signs.gate.pod if signs.gate is not None else ""
    for daemonset, pod, message in (each for each in signs.operands if each[1] != known):
        shown = f"pod {pod}: {message}"
        row = next((each for each in node_causes().values() if daemonset in each.operands), None)
        if row is not None:
            yield _of_row(signs, row, shown)
            continue
        reason = f"A Pod of {daemonset} fails on the node: {message}"
        fix = f"kubectl delete pod --namespace gpu-operator {pod} starts it again; if it fails again: {{reboot}}"
        groups = frozenset({"operand"})
        yields = frozenset({"machine", "xid", "node", "driver", "licence", "gate", "leaving"})
        yield Raw(f"operand-{daemonset}", OPERAND_RANK, groups, reason, (shown,), yields, fix=fix)


def _gate(gate: ClosedGate, signs: NodeSigns) -> Raw:
    where = f"gate {gate.gate}{f', pod {gate.pod}' if gate.pod else ''}: {gate.message or gate.reason}"
    row = cause_of_gate(gate.cause) if gate.cause else None
    if gate.gate == "node" and not gate.cause:
        row = node_causes()["node-not-ready"]
    groups = frozenset({"node" if gate.gate == "node" else "gate", "gate"})
    if row is not None:
        found = _of_row(signs, row, where, pool=gate.pool, reason=gate.reason)
        # Uses the same id for the cause as the other commands use for the gate's cause.
        return Raw(
            gate.cause or row.id,
            found.rank,
            found.groups | groups,
            gate.reason,
            found.shown,
            found.yields,
            fix=found.fix,
            remedy=found.remedy,
            waits=row.waits,
            gate=True,
            row=row.id,
        )
    failing = not gate.cause and any(each in gate.phase for each in ("BackOff", "Error"))
    return Raw(
        gate.cause or f"gate-{gate.gate}",
        GATE_RANK,
        groups,
        gate.reason,
        (where,),
        fix=gate.fix or f"Wait: this gate usually opens without an action ({gate.phase or gate.gate}).",
        waits=gate.may_recover and not failing,
        gate=True,
    )


def _alert(alert: Alert, signs: NodeSigns) -> Raw:
    given = alert.labels
    shown = f"alert {alert.name}{f': {alert.summary}' if alert.summary else ''}"
    gpus = frozenset(filter(None, (given.get("gpu", ""), given.get("gpu_id", ""), given.get("UUID", ""))))
    if alert.name in XID_ALERTS and given.get("xid", "").isdigit():
        return _xid(int(given["xid"]), gpus, shown).of_alert(alert.name)
    row = cause_of_alert(alert.name)
    if row is not None:
        facts = {
            "condition": given.get("condition", ""),
            "namespace": given.get("exported_namespace") or given.get("namespace", ""),
            "pod": given.get("exported_pod") or given.get("pod", ""),
            "reason": alert.summary,
        }
        return _of_row(signs, row, shown, gpus, **facts).of_alert(alert.name)
    return unknown_alert(alert).of_alert(alert.name)


def unknown_alert(alert: Alert) -> Raw:
    """Sign for an alert of a rule that is not this project's, in the alert's own words."""
    named = (f"{key}={value}" for key, value in sorted(alert.labels.items()) if key != "alertname")
    said = alert.summary or ", ".join(named)
    reason = f"{alert.name}: {said}"
    fix = alert.action or f"{NOT_KNOWN} {alert.runbook or 'Its rule in Prometheus says what it compares.'}"
    waits = alert.labels.get("severity") in ("info", "none")
    groups = frozenset({"alert"})
    return Raw(f"alert-{alert.name}", GATE_RANK + 0.3, groups, reason, (f"alert {reason}",), fix=fix, waits=waits)
