"""Findings about the organisation's policies that would deny declared resources, as Azure Policy evaluates them. Pure
functions, except for the request that the caller passes in.

Shapes: azure-rest-api-specs, Microsoft.PolicyInsights 2023-03-01, checkPolicyRestrictions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

from physical_ai.findings import Finding, Severity
from workbench.verdict.model import Subject

TOPIC, SOURCE = "policy", "Azure Policy"
API_VERSION = "2023-03-01"
MOST_REQUESTS = 60
PATH = "providers/Microsoft.PolicyInsights/checkPolicyRestrictions"
Ask = Callable[[Mapping[str, Any]], Any]
"""Function that sends the body of a checkPolicyRestrictions request and returns Azure's answer."""


def request(subject: Subject) -> dict[str, Any]:
    """Body of the checkPolicyRestrictions request about a resource."""
    content = {"type": subject.arm_type, "name": subject.resource_id.rpartition("/")[2], **subject.body}
    scope = subject.resource_id.rpartition("/providers/")[0] or None
    details = {"resourceContent": content, "apiVersion": subject.api_version, **({"scope": scope} if scope else {})}
    return {"resourceDetails": details, "pendingFields": []}


def policy_findings(subjects: Sequence[Subject], ask: Ask) -> Iterator[Finding]:
    """Findings from Azure Policy about resource types. Azure is asked about the first resource of each type only, as a
    sample.

    `ask` raises an error if Azure does not answer.
    """
    first = {each.arm_type: each for each in reversed(subjects)}
    asked = list(first.values())[:MOST_REQUESTS]
    denied, unread = 0, list[str]()
    for each in asked:
        answer = ask(request(each))
        if not _map(answer).keys() & {"fieldRestrictions", "contentEvaluationResult"}:
            unread.append(each.arm_type)
        for effect, policy, reason in _evaluations(answer):
            denied += effect == "deny"
            severity = Severity.ERROR if effect == "deny" else Severity.INFO
            verb = "denies it" if effect == "deny" else f"has the effect {effect}"
            problem = f"The policy {policy} {verb}{f': {reason}' if reason else '.'}"
            fix = "Ask its owner for an exemption, or change what it names." if effect == "deny" else None
            yield Finding(severity, TOPIC, each.arm_type, problem, fix, SOURCE)
    if unread:
        problem = f"Azure's answer says nothing about {', '.join(unread[:3])}{' and others' * (len(unread) > 3)}."
        yield Finding(Severity.UNKNOWN, TOPIC, f"{len(unread)} types", problem, None, SOURCE)
    elif asked and not denied:
        yield Finding(Severity.OK, TOPIC, f"{len(asked)} types", "no policy denies one of them", None, SOURCE)


def _evaluations(answer: Any) -> Iterator[tuple[str, str, str]]:
    """Effect in lower case, name of the assignment, and reason, of each policy that the resource violates."""
    result = _map(_map(answer).get("contentEvaluationResult"))
    rows = result.get("policyEvaluations")
    for row in cast("list[Any]", rows) if isinstance(rows, list) else []:
        each = _map(row)
        if each.get("evaluationResult") != "NonCompliant":
            continue
        effect = str(_map(each.get("effectDetails")).get("policyEffect") or "Deny").lower()
        assignment = str(_map(each.get("policyInfo")).get("policyAssignmentId") or "").rpartition("/")[2]
        reason = str(_map(each.get("evaluationDetails")).get("reason") or "")
        yield effect, assignment or "without a name", reason


def _map(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
