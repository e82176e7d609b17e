"""Evaluates ValidatingAdmissionPolicies without an API server."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from physical_ai.kubernetes.cel import EvaluationError, evaluate
from physical_ai.kubernetes.objects import labels, matches

Json = dict[str, Any]


@dataclass(frozen=True)
class Request:
    """Request to the API server, as an admission policy sees it; `resource` is the plural, with its subresource."""

    operation: str
    resource: str
    groups: Sequence[str]
    new: Mapping[str, Any] | None = None
    old: Mapping[str, Any] | None = None
    namespace: str = ""


@dataclass(frozen=True)
class Admission:
    """Policies and their bindings."""

    objects: Sequence[Mapping[str, Any]]

    def refusal(self, request: Request, parameters: Mapping[str, Iterable[Mapping[str, Any]]]) -> str:
        """Name of the first policy that refuses the request; empty if none does. `parameters` holds, by kind, the
        objects from which bindings select.
        """
        policies = {each["metadata"]["name"]: each for each in self._of("ValidatingAdmissionPolicy")}
        for binding in self._of("ValidatingAdmissionPolicyBinding"):
            policy = policies[binding["spec"]["policyName"]]
            if _concerns(policy, binding, request) and not _passes(policy, binding, request, parameters):
                return str(policy["metadata"]["name"])
        return ""

    def _of(self, kind: str) -> list[Mapping[str, Any]]:
        return [each for each in self.objects if each["kind"] == kind]


def _concerns(policy: Mapping[str, Any], binding: Mapping[str, Any], request: Request) -> bool:
    rules: list[Json] = policy["spec"]["matchConstraints"]["resourceRules"]
    if not any(request.operation in each["operations"] and request.resource in each["resources"] for each in rules):
        return False
    chosen = binding["spec"].get("matchResources", {}).get("objectSelector", {}).get("matchLabels", {})
    both = [each for each in (request.new, request.old) if each is not None]
    return not chosen or any(matches(chosen, labels(each)) for each in both)


def _passes(
    policy: Mapping[str, Any],
    binding: Mapping[str, Any],
    request: Request,
    parameters: Mapping[str, Iterable[Mapping[str, Any]]],
) -> bool:
    spec = policy["spec"]
    scope: Json = {
        "request": {"userInfo": {"groups": list(request.groups)}, "namespace": request.namespace},
        "object": request.new,
        "oldObject": request.old,
    }
    # An error in a condition or a validation is a refusal, as failurePolicy: Fail has it.
    assert spec["failurePolicy"] == "Fail"
    try:
        if not all(evaluate(each["expression"], scope) for each in spec.get("matchConditions", ())):
            return True
        scope["variables"] = {each["name"]: evaluate(each["expression"], scope) for each in spec.get("variables", ())}
        reference = binding["spec"].get("paramRef")
        if reference is None:
            return all(evaluate(each["expression"], scope) for each in spec["validations"])
        chosen = reference["selector"]["matchLabels"]
        found = [each for each in parameters[spec["paramKind"]["kind"]] if matches(chosen, labels(each))]
        if not found:
            return bool(reference["parameterNotFoundAction"] == "Allow")
        scopes = [{**scope, "params": one} for one in found]
        return all(evaluate(each["expression"], own) for own in scopes for each in spec["validations"])
    except EvaluationError:
        return False
