"""Findings about the globally unique names of a stack's data services. Each name is free, used by this stack already,
or taken by somebody else.

Names of a cache and of a vault are not checked: Azure has no request for a cache's name, and each vault gets a new
name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from physical_ai.findings import Finding, Severity
from physical_ai.settings import Settings
from physical_ai.settings.facts.data_services import DataNames, managed
from physical_ai.settings.facts.naming import Names
from physical_ai.subscription.answers import Azure

TOPIC, SOURCE = "name", "Azure"


@dataclass(frozen=True)
class GlobalName:
    """A globally unique name. `kind` is the type of the resource, and `word` the term for it in messages."""

    word: str
    kind: str
    name: str


def global_names(settings: Settings, subscription_id: str) -> tuple[GlobalName, ...]:
    """Names of the data services that Azure can check; none for a stack without data services."""
    if managed(settings) is None:
        return ()
    names = DataNames(settings.stack, subscription_id)
    return (
        GlobalName("storage account", "Microsoft.Storage/storageAccounts", names.storage),
        GlobalName("container registry", "Microsoft.ContainerRegistry/registries", names.registry),
        GlobalName("PostgreSQL server", "Microsoft.DBforPostgreSQL/flexibleServers", names.postgres),
    )


def name_findings(settings: Settings, azure: Azure, subscription_id: str) -> Iterator[Finding]:
    """A finding for each name of `global_names`. Raises Unanswered."""
    group = Names(settings.stack).resource_group
    for each in global_names(settings, subscription_id):
        why_not = azure.name_refused(each.kind, each.name)
        if why_not is None:
            yield Finding(Severity.OK, TOPIC, each.name, f"free for a {each.word}", None, SOURCE)
        elif azure.exists(group, each.kind, each.name):
            yield Finding(Severity.OK, TOPIC, each.name, f"the {each.word} of this stack", None, SOURCE)
        else:
            problem = f"Azure refuses this name for a {each.word}: {why_not}"
            fix = "The name follows from the stack's name and the subscription: give the stack another name."
            fix += " If a deployment of yours was removed a moment ago, ask again later."
            yield Finding(Severity.ERROR, TOPIC, each.name, problem, fix, SOURCE)
