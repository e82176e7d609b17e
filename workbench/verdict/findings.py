"""Findings from ARM's answers: ARM's code and message, the resource, the setting behind it, and what to change.

Pure functions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from physical_ai.findings import Finding, Severity
from physical_ai.readiness.azure_failures import advice, where_to_look
from workbench.verdict.model import Judged, Plan, Said, Subject, changed
from workbench.verdict.origins import setting

TOPIC, SOURCE = "verdict", "Azure Resource Manager"
Origin = Callable[[str], str]
"""Function from the path of a setting to the file that sets it; empty if no file does."""


@dataclass(frozen=True, kw_only=True)
class VerdictFinding(Finding):
    """Finding about a resource that ARM refuses."""

    code: str = ""
    resource: str = ""
    """ARM id of the refused resource; empty if ARM names no resource."""
    setting: str = ""
    file: str = ""
    """File that sets `setting`, relative to the root of the checkout; empty for a default."""


def findings(plan: Plan, judged: Sequence[Judged], pools: Sequence[str], origin: Origin) -> Iterator[Finding]:
    """All findings about a plan: ARM's refusals; templates that ARM did not judge; changes that what-if cannot predict;
    and resources about which ARM was not asked. If ARM judged every template and refused none, the last finding says
    so.
    """
    refused = [said for each in judged for said in each.said]
    for said in refused:
        yield _refusal(plan, said, pools, origin)
    for each in judged:
        if each.unanswered:
            problem = f"Azure gave no verdict: {each.unanswered}."
            yield Finding(Severity.UNKNOWN, TOPIC, each.deployment, problem, advice(each.unanswered), SOURCE)
        for change in each.changes:
            if change.kind == "Unsupported":
                problem = f"What-if cannot say: {change.reason or 'no reason given'}"
                yield Finding(Severity.INFO, TOPIC, _short(change.resource_id), problem, None, SOURCE)
    for name, reason in plan.left_out:
        yield Finding(Severity.UNKNOWN, TOPIC, name, f"Azure was not asked about it: {reason}.", None, SOURCE)
    if not refused and judged and not any(each.unanswered for each in judged):
        counts = ", ".join(f"{number} {kind}" for kind, number in sorted(changed(judged).items()))
        text = f"Azure refuses none of {len(plan.subjects)} resources{f'; what-if: {counts}' if counts else ''}"
        yield Finding(Severity.OK, TOPIC, "all resources", text, None, SOURCE)


def _refusal(plan: Plan, said: Said, pools: Sequence[str], origin: Origin) -> VerdictFinding:
    subject = subject_of(plan, said)
    path = setting(subject, said, pools) if subject is not None else ""
    file = origin(path) if path else ""
    policies = f" Denied by {', '.join(said.policies)}." if said.policies else ""
    known = advice(f"{said.code}: {said.message}") or ""
    known = known[:1].upper() + known[1:]
    place = f"Set by {path}{f' in {file}' if file else ', a default'}." if path else ""
    fix = " ".join(each for each in (place, known or where_to_look(said.code)) if each)
    where = (
        f"{subject.arm_type} {_short(subject.resource_id)}" if subject is not None else said.target or "the template"
    )
    return VerdictFinding(
        Severity.ERROR,
        TOPIC,
        where,
        f"{said.code}: {said.message}{policies}",
        fix,
        SOURCE,
        code=said.code,
        resource=subject.resource_id if subject is not None else "",
        setting=path,
        file=file,
    )


def subject_of(plan: Plan, said: Said) -> Subject | None:
    """The resource that a message of ARM is about; None if it is not known.

    The resource is found by an id in the message, or by a name in the message that only one resource has.
    """
    ids = [said.target, *re.findall(r"/subscriptions/[^\s'\",;]+", f"{said.target} {said.message}")]
    for text in ids:
        parts = text.rstrip(".").split("/")
        for length in range(len(parts), 4, -1):
            if (found := plan.subject("/".join(parts[:length]))) is not None:
                return found
    names = set(re.findall(r"'([^'/\s]+(?:/[^'\s]+)*)'", said.message)) | {said.target}
    matching = [each for each in plan.subjects if {_own_name(each), each.resource_id.rpartition("/")[2]} & names]
    return matching[0] if len(matching) == 1 else None


def _own_name(subject: Subject) -> str:
    """Name of a resource as a template writes it: the names of its parents and its own, joined by slashes."""
    return "/".join(subject.resource_id.rpartition("/providers/")[2].split("/")[2::2])


def _short(resource_id: str) -> str:
    return "/".join(resource_id.rpartition("/providers/")[2].split("/")[2::2]) or resource_id.rpartition("/")[2]
