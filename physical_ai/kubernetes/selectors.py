"""Required node affinity: which nodes the selector terms of a Pod select. Pure functions.

The rules are those of k8s.io/component-helpers, scheduling/corev1/nodeaffinity: terms are alternatives, all
requirements of a term have to hold, and a term that is empty or can't be read selects no node.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from physical_ai.kubernetes.objects import Json, at, labels, matches, name

NAME_FIELD = "metadata.name"


def terms_of(pod: Mapping[str, Any]) -> Sequence[Json] | None:
    """Terms of the Pod's required node affinity, of which a node has to meet one; None where the Pod has no such
    rule.
    """
    required = at(pod, "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution")
    return None if required is None else at(required, "nodeSelectorTerms", ())


def selects(pod: Mapping[str, Any], node: Mapping[str, Any]) -> bool:
    """True where the node meets the pod's required node affinity."""
    terms = terms_of(pod)
    return terms is None or any(_met(term, node) for term in terms)


def _met(term: Json, node: Mapping[str, Any]) -> bool:
    expressions: Sequence[Json] = term.get("matchExpressions") or ()
    fields: Sequence[Json] = term.get("matchFields") or ()
    return (
        bool(expressions or fields)
        and all(holds(each, labels(node)) for each in expressions)
        and all(_names(each, name(node)) for each in fields)
    )


def holds(requirement: Mapping[str, Any], given: Mapping[str, str]) -> bool:
    """True if the labels `given` meet the requirement. For a label that is missing, only `NotIn` and `DoesNotExist`
    hold.
    """
    key, values = str(requirement.get("key")), requirement.get("values") or ()
    judge = OPERATORS.get(str(requirement.get("operator")))
    return judge is not None and judge(given.get(key), values)


def _compares(value: str | None, values: Sequence[str], order: Callable[[int, int], bool]) -> bool:
    number, bound = _integer(value), _integer(values[0] if len(values) == 1 else None)
    return number is not None and bound is not None and order(number, bound)


OPERATORS: Mapping[str, Callable[[str | None, Sequence[str]], bool]] = {
    "In": lambda value, values: value in values,
    "NotIn": lambda value, values: value not in values,
    "Exists": lambda value, _: value is not None,
    "DoesNotExist": lambda value, _: value is None,
    "Gt": lambda value, values: _compares(value, values, int.__gt__),
    "Lt": lambda value, values: _compares(value, values, int.__lt__),
}


def _integer(text: Any) -> int | None:
    return int(text) if isinstance(text, str) and re.fullmatch(r"[+-]?[0-9]+", text) else None


def _names(requirement: Mapping[str, Any], node: str) -> bool:
    """True if the node named `node` meets a requirement of `matchFields`. False if the requirement is about another
    field than `metadata.name`, or has not exactly one value: Kubernetes supports no other requirements.
    """
    values: Sequence[str] = requirement.get("values") or ()
    if requirement.get("key") != NAME_FIELD or len(values) != 1:
        return False
    match requirement.get("operator"):
        case "In":
            return node == values[0]
        case "NotIn":
            return node != values[0]
        case _:
            return False


def named_nodes(pod: Mapping[str, Any]) -> set[str] | None:
    """Names of the only nodes on which the Pod can run; None if its node affinity has no terms, or a term without node
    names.
    """
    terms = terms_of(pod)
    if not terms:
        return None
    found: set[str] = set()
    for term in terms:
        named: list[set[str]] = [
            set(each.get("values") or ())
            for each in term.get("matchFields") or ()
            if each.get("key") == NAME_FIELD and each.get("operator") == "In"
        ]
        if not named:
            return None
        found |= set[str].intersection(*named)
    return found


def selects_labels(selector: Mapping[str, Any] | None, given: Mapping[str, str]) -> bool:
    """True where a label selector (`matchLabels`, `matchExpressions`) selects an object with these labels.

    An empty selector selects every object; a missing selector selects none (k8s.io/apimachinery, meta/v1/helpers.go).
    """
    if selector is None:
        return False
    match_labels: Mapping[str, str] = selector.get("matchLabels") or {}
    expressions: Sequence[Json] = selector.get("matchExpressions") or ()
    return matches(match_labels, given) and all(holds(each, given) for each in expressions)
