"""Check that the resource providers that a stack needs are registered in its subscription. Pure functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from physical_ai.findings import Finding, Severity
from physical_ai.settings import Settings
from physical_ai.settings.facts.data_services import managed
from physical_ai.subscription import needs
from physical_ai.subscription.needs_private import private_actions

AZURE = "Azure"


def parts_of(settings: Settings) -> dict[str, bool]:
    """Keyword arguments for the functions in `needs`: `metrics` is True if the stack uses Azure's metrics, `data` is
    True if it uses managed data services.
    """
    return {
        "metrics": settings.monitoring.metrics == "azure",
        "data": managed(settings) is not None,
    }


def needed_registrations(settings: Settings) -> list[str]:
    """The resource providers that must be registered for the resources that the program declares."""
    return needs.namespaces(**parts_of(settings), private=private_actions(settings))


def provider_findings(settings: Settings, registered: Mapping[str, str]) -> Iterator[Finding]:
    """Findings about the resource providers that a stack needs. `registered`: their states by namespace."""
    states = {name.lower(): state for name, state in registered.items()}
    for name in needed_registrations(settings):
        state = states.get(name.lower(), "not in the subscription's list")
        if state == "Registered":
            yield Finding(Severity.OK, "provider", name, "registered", None, AZURE)
        else:
            fix = f"az provider register --namespace {name}"
            yield Finding(Severity.ERROR, "provider", name, f"It is not registered ({state}).", fix, AZURE)
