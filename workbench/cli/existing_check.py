"""Check of an existing cluster for `physai check`, by the kubeconfig context that the stack names."""

from __future__ import annotations

import datetime
import os
from collections.abc import Mapping, Sequence
from typing import Any

from physical_ai.findings import Finding, Severity
from physical_ai.readiness.answers import is_forbidden
from physical_ai.readiness.client import connect
from physical_ai.readiness.existing import survey
from physical_ai.readiness.existing_owners import CLUSTER, judge
from physical_ai.readiness.installed_driver import OWNERS
from physical_ai.readiness.kubeconfig_context import explained, kubeconfig_file, read_context
from physical_ai.readiness.reader import Get, Missing, Unreachable, Unusable
from physical_ai.settings import Loaded, Settings
from physical_ai.settings.target import existing_cluster
from workbench.preflight.existing import Read, Wanted, judge_cluster, read_cluster


def context_of(settings: Settings) -> str | None:
    """Kubeconfig context of the stack's existing cluster; None for a stack that creates its cluster."""
    target = existing_cluster(settings)
    return target.context if target is not None else None


def check_existing(loaded: Loaded, today: datetime.date, *, offline: bool) -> tuple[list[Finding], str | None] | None:
    """Findings about the stack's existing cluster, and None; if the cluster was not read, no findings, and the reason.

    For a stack that creates its cluster, the result is None instead of a pair.
    """
    settings = loaded.settings
    target = existing_cluster(settings)
    if target is None:
        return None
    if offline:
        return [], "--offline"
    file, context = kubeconfig_file(target.kubeconfig, os.environ), target.context or ""
    try:
        text = read_context(file, context)
    except Unusable as problem:
        return [], str(problem)
    try:
        get = connect(text)
        found = read_cluster(reader(get))
        owners = judged_owners(loaded, get)
    except (Unreachable, Unusable) as problem:
        return [], explained(file, context, text, problem)
    selectors = {name: pool.node_selector for name, pool in settings.pools.items()}
    return [*owners, *judge_cluster(Wanted(settings, selectors), found, today)], None


def judged_owners(loaded: Loaded, get: Get) -> list[Finding]:
    """Findings about nodes of the existing cluster that cannot be in their node class, and about objects in the cluster
    that do not belong to the stack: namespaces, KAI and the GPU Operator. `preview` and `up` report the same findings.
    """
    try:
        return list(judge(loaded.settings, loaded.plan, survey(get)).findings)
    except Unreachable as problem:
        if not is_forbidden(problem):
            raise
        return [Finding(Severity.UNKNOWN, OWNERS, CLUSTER, f"Parts of it cannot be read: {problem}", None, CLUSTER)]


def reader(get: Get) -> Read:
    """Function that lists objects of the API server by path. It returns None for a list that does not exist, or that
    the login may not read.
    """

    def read(path: str) -> Sequence[Mapping[str, Any]] | None:
        try:
            answer = get(path, {})
        except Missing:
            return None
        except Unreachable as problem:
            if is_forbidden(problem):
                return None
            raise
        return list(answer.get("items") or ())

    return read
