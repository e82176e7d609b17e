"""Causes of a failing GPU node with their signs and repairs: rows, lookups, remedies."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Literal, Self

from pydantic import model_validator

from physical_ai.catalog.acceptance import AcceptanceLevel
from physical_ai.catalog.gpu_load import GPU
from physical_ai.catalog.load import CatalogError, read_rows, row
from physical_ai.catalog.rows import Row, Text

Remedy = Literal["reboot", "replace"]
Group = Literal[
    "machine", "licence", "node", "driver", "performance", "work", "telemetry", "consequence", "leaving", "grid"
]
Explains = Group | Literal["xid", "xid-64", "xid-unknown", "information", "gate", "condition"]
"""Problem that can explain a sign of a failing node: a group of causes, an Xid of some kind, a closed gate, or a node
condition. A sign that is explained by a problem is shown as evidence of the problem, not as a separate cause.
"""
REMEDIES: Mapping[Remedy, str] = {
    "reboot": "physai node replace {node} {stack} --reboot drains the node, restarts its machine, and accepts it.",
    "replace": "physai node replace {node} {stack} --replace drains the node, reports its machine to Azure, deletes it,"
    " and accepts the new one.",
}
ELSEWHERE: Mapping[Remedy, str] = {
    "reboot": "physai node replace {node} {stack} --reboot cordons and drains the node, waits until you have restarted"
    " its machine, and accepts it.",
    "replace": "physai node replace {node} {stack} --replace cordons and drains the node, waits until you have had its"
    " machine repaired or exchanged by its vendor, and accepts the new one: a restart does not repair it.",
}
"""Text about the command for each remedy on an existing cluster. The command does not restart or replace the machine
itself: it waits until a person has done so.
"""
ADVISED = (
    "physai node replace {node} {stack} restarts or replaces the machine, as all that is known of it advises: it"
    " cordons and drains the node first, and accepts it at the end."
)
"""Advice in gates and alerts about a machine on Azure. `physai node replace` chooses between restart and replacement,
because a single alert or gate is not enough evidence for the choice.
"""
ADVISED_ELSEWHERE = (
    "physai node replace {node} {stack} says whether a restart repairs the machine or its vendor has to, by all that is"
    " known of it: it cordons and drains the node, waits until you have done that, and accepts it at the end."
)
"""Advice in gates and alerts about a machine of an existing cluster, whose owner restarts or repairs the machine. It
applies also if the existing cluster runs on AKS.
"""
ASK = "physai why {node} {stack} names what is wrong with the node, and the command that repairs it."
"""Advice in an alert whose cause is usually another problem of the node."""
ADVISED_COMMANDS = ("physai why NODE STACK", "physai node replace NODE STACK")


class NodeCause(Row):
    """Cause of a failing GPU node; the data file explains the fields."""

    id: Text
    group: Group
    yields: tuple[Explains, ...] = ()
    alerts: tuple[Text, ...] = ()
    codes: tuple[Text, ...] = ()
    conditions: tuple[Text, ...] = ()
    gates: tuple[Text, ...] = ()
    counts: tuple[Text, ...] = ()
    checks: tuple[Text, ...] = ()
    operands: tuple[Text, ...] = ()
    remedy: Remedy | None = None
    proof: AcceptanceLevel | None = None
    reason: Text
    fix: Text = "-"
    fix_elsewhere: Text = "-"
    """Repair on an existing cluster, if it differs from `fix`; `-` if the repairs are the same."""
    waits: bool = False
    source: Text
    date: datetime.date

    @model_validator(mode="after")
    def _one_remedy(self) -> Self:
        if (self.remedy is None) == (self.fix == "-"):
            raise ValueError("needs either a remedy or a fix")
        if (self.remedy is None) != (self.proof is None):
            raise ValueError("needs a proof beside a remedy, and only there")
        return self

    def advice(self, *, azure: bool) -> str:
        """Repair for a node. `azure`: True for a cluster on Azure that the stack creates, False for an existing
        cluster.
        """
        return self.fix if azure or self.fix_elsewhere == "-" else self.fix_elsewhere

    def has_condition(self, kind: str) -> bool:
        """True where a condition of this type is a sign of this cause."""
        return any(re.fullmatch(each, kind) for each in self.conditions)


@lru_cache(maxsize=1)
def node_causes() -> Mapping[str, NodeCause]:
    """All causes by id, the most specific first."""
    found: dict[str, NodeCause] = {}
    for group in read_rows(GPU / "node_causes.yaml"):
        shared = {"source": group["source"], "date": group["date"]}
        for own in group["causes"]:
            cause = row(NodeCause, {**shared, **own}, f"node_causes.yaml: {own.get('id')}")
            if cause.id in found:
                raise CatalogError(f"node_causes.yaml: {cause.id} is a duplicate")
            found[cause.id] = cause
    return found


def cause_of_alert(alert: str) -> NodeCause | None:
    """Cause that an alert of this project reports; None for an alert that is not about a node."""
    return next((each for each in node_causes().values() if alert in each.alerts), None)


def cause_of_gate(gate: str) -> NodeCause | None:
    """Cause that explains a closed gate and contains the gate's fix; None for a gate whose fix is in `causes.yaml`."""
    return next((each for each in node_causes().values() if gate in each.gates), None)


def gate_fix(gate: str, *, azure: bool) -> str | None:
    """Advice for a closed gate, with `{node}` and `{stack}` to fill in; None for a gate that no row of the causes
    explains.

    Args:
        azure: True for a node of a cluster that the stack creates on Azure; False on an existing cluster.
    """
    cause = cause_of_gate(gate)
    if cause is None:
        return None
    if cause.remedy is not None:
        return ADVISED if azure else ADVISED_ELSEWHERE
    return with_remedies(cause.advice(azure=azure), azure=azure)


def alert_action(alert: str, *, azure: bool = True) -> str | None:
    """Text for the annotation of an alert: the action that repairs the node. The text contains `NODE` and similar names
    in capitals, which its reader replaces. None for an alert that no row of the causes explains.

    Args:
        azure: True for nodes of a cluster that the stack creates on Azure; False on an existing cluster.
    """
    cause = cause_of_alert(alert)
    if cause is None:
        return None
    text = with_remedies(cause.advice(azure=azure), azure=azure)
    if cause.remedy is not None:
        text = ADVISED if azure else ADVISED_ELSEWHERE
    text = ASK if cause.group in ("consequence", "telemetry") else text
    return re.sub(r"\{(\w+)\}", lambda key: key[1].upper(), text)


def with_remedies(fix: str, *, azure: bool) -> str:
    """Advice in which `{reboot}` and `{replace}` are replaced by commands; `{node}` and `{stack}` are left in it."""
    remedies = REMEDIES if azure else ELSEWHERE
    return fix.replace("{replace}", remedies["replace"]).replace("{reboot}", remedies["reboot"])


def remedy_text(remedy: Remedy, *, node: str, stack: str, azure: bool) -> str:
    """Command that restarts or replaces a machine."""
    return (REMEDIES if azure else ELSEWHERE)[remedy].format(node=node, stack=stack)
