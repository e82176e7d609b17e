"""Verdicts of admission policies on an object. physical_ai/kubernetes/cel.py evaluates them within milliseconds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from physical_ai.kubernetes.cel import evaluate
from physical_ai.planning.gpu_admission import policies
from physical_ai.settings import Settings

Json = dict[str, Any]


@dataclass(frozen=True)
class Verdict:
    """Reason for which a policy refuses an object."""

    policy: str
    message: str


class _Variables(Mapping[str, Any]):
    """Variables of a policy. As in Kubernetes, a variable is evaluated when it is used."""

    def __init__(self, given: Sequence[Json], scope: Json) -> None:
        self._expressions = {each["name"]: each["expression"] for each in given}
        self._scope = {**scope, "variables": self}

    def __getitem__(self, name: str) -> Any:
        return evaluate(self._expressions[name], self._scope)

    def __iter__(self) -> Iterator[str]:
        return iter(self._expressions)

    def __len__(self) -> int:
        return len(self._expressions)


def denials(settings: Settings, pod: Json, *, old: Json | None = None, namespace: str = "team") -> list[Verdict]:
    """Reasons for which a stack refuses to create a Pod, or to update it from `old`, in the policies' order."""
    found = policies(settings)
    denied = {
        each["spec"]["policyName"]
        for each in found
        if each["kind"] == "ValidatingAdmissionPolicyBinding" and "Deny" in each["spec"]["validationActions"]
    }
    made = [each for each in found if each["kind"] == "ValidatingAdmissionPolicy"]
    mine = [each for each in made if each["metadata"]["name"] in denied]
    return [verdict for policy in mine for verdict in _of(policy, pod, old, namespace)]


def _of(policy: Json, pod: Json, old: Json | None, namespace: str) -> Iterator[Verdict]:
    spec, operation = policy["spec"], "UPDATE" if old else "CREATE"
    rules = spec["matchConstraints"]["resourceRules"]
    if not any("pods" in rule["resources"] and operation in rule["operations"] for rule in rules):
        return
    scope: Json = {"object": pod, "oldObject": old, "request": {"operation": operation, "namespace": namespace}}
    variables = _Variables(spec.get("variables", ()), scope)
    known = {**scope, "variables": variables}
    if not all(evaluate(each["expression"], known) for each in spec.get("matchConditions", ())):
        return
    for each in spec["validations"]:
        if not evaluate(each["expression"], known):
            words = each.get("message") or evaluate(each["messageExpression"], known)
            yield Verdict(policy["metadata"]["name"], words)
