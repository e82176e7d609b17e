"""Preview features that must be registered in the subscription for a stack."""

from __future__ import annotations

from collections.abc import Iterator

from parts.network_operator.names import FEATURE
from physical_ai.findings import Finding, Severity
from physical_ai.settings import Settings
from physical_ai.settings.facts.fabric import fabric_pools
from physical_ai.subscription.answers import Azure

_SOURCE = "Azure"


def needed_features(settings: Settings) -> list[tuple[str, str]]:
    """Namespace and name of each preview feature that a stack needs.

    Without the feature for InfiniBand, Azure may place the nodes of a pool on different fabrics.
    """
    return [FEATURE] if fabric_pools(settings) else []


def feature_findings(azure: Azure, namespace: str, name: str) -> Iterator[Finding]:
    """Finding about the registration of a preview feature. Raises `Unanswered`."""
    state = azure.feature(namespace, name)
    if state == "Registered":
        yield Finding(Severity.OK, "feature", name, "registered", None, _SOURCE)
        return
    problem = f"It is not registered ({state}): the nodes of a pool need not share an InfiniBand fabric."
    fix = (
        f"az feature register --namespace {namespace} --name {name}, and once it is Registered,"
        f" az provider register --namespace {namespace}; before the pool is created."
    )
    yield Finding(Severity.ERROR, "feature", name, problem, fix, _SOURCE)
