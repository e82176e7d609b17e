"""Accessors for parts of Kubernetes objects, and constructors of findings about them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from physical_ai.findings import Finding, Severity
from physical_ai.kubernetes.objects import labels, matches
from physical_ai.nested import at

Json = Mapping[str, Any]
CLUSTER = "the cluster"
_NUMBERS = re.compile(r"[0-9]+")
_MOST_DIGITS = 18
"""Maximum number of digits that are read from one number of a version. Python refuses numbers with thousands of
digits.
"""


def info(node: Json, key: str) -> str:
    """The field `key` of a node's `status.nodeInfo`; empty if the kubelet has not reported it."""
    return str(at(node, f"status.nodeInfo.{key}") or "")


def numbers(text: str) -> tuple[int, ...]:
    """The numbers in a version.

    >>> numbers("v1.32.5"), numbers("6.8.0-85-generic")
    ((1, 32, 5), (6, 8, 0, 85))
    """
    return tuple(int(each[:_MOST_DIGITS]) for each in _NUMBERS.findall(text))


def minor(node: Json) -> tuple[int, int] | None:
    """Major and minor version of a node's kubelet; None if its version lacks one of them, such as `v1`."""
    match numbers(info(node, "kubeletVersion")):
        case (major, least, *_):
            return major, least
        case _:
            return None


def selects(selector: Mapping[str, str], item: Json) -> bool:
    """True if an object has all labels of the selector; False if the selector is empty."""
    return bool(selector) and matches(selector, labels(item))


def listed(names: Iterable[str], most: int = 3) -> str:
    """Text with the first `most` names in alphabetical order, and the number of the others.

    >>> listed(["a", "b", "c", "d"])
    'a, b, c and 1 more'
    """
    known = sorted(set(names))
    more = f" and {len(known) - most} more" if len(known) > most else ""
    return ", ".join(known[:most]) + more


def ok(rule: str, where: str, what: str) -> Finding:
    return Finding(Severity.OK, rule, where, what, None, CLUSTER)


def unknown(rule: str, where: str, what: str, fix: str | None = None) -> Finding:
    return Finding(Severity.UNKNOWN, rule, where, what, fix, CLUSTER)


def wrong(rule: str, where: str, problem: str, fix: str, source: str = CLUSTER) -> Finding:
    """Finding with severity ERROR, for something that keeps the platform from working on the cluster."""
    return Finding(Severity.ERROR, rule, where, problem, fix, source)


def doubtful(rule: str, where: str, problem: str, fix: str, source: str = CLUSTER) -> Finding:
    """Finding with severity WARNING, for something that works, but has a disadvantage."""
    return Finding(Severity.WARNING, rule, where, problem, fix, source)
