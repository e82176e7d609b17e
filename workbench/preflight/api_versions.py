"""Findings about API versions that the provider azure-native sends and Azure no longer serves."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from physical_ai.catalog.api_versions import api_versions
from physical_ai.findings import Finding, Severity
from physical_ai.subscription.answers import Azure

AZURE = "Azure"
TOPIC = "api version"
_UPGRADE = "Upgrade pulumi-azure-native to a release that sends a version that Azure serves."


def version_findings(azure: Azure, namespaces: Collection[str]) -> Iterator[Finding]:
    """Findings about the API versions that the provider sends: an error for each resource type whose version Azure does
    not serve; one finding about all types that Azure does not list; and one about all types whose version Azure serves.

    Args:
        azure: Source of Azure's answers.
        namespaces: The resource providers that the stack uses.
    """
    served = {name.lower(): versions for name, versions in azure.api_versions().items()}
    lower_case = {namespace.lower() for namespace in namespaces}
    types = {name: own for name, own in api_versions().types.items() if name.partition("/")[0].lower() in lower_case}
    for name, own in types.items():
        offered = served.get(name.lower())
        if offered is not None and own.sent not in offered:
            newest = max(offered, default="none")
            problem = f"Azure does not serve {own.sent}, which {api_versions().sdk} sends; the newest is {newest}."
            yield Finding(Severity.ERROR, TOPIC, name, problem, _UPGRADE, AZURE)
    if unknown := [name for name in types if name.lower() not in served]:
        problem = f"Azure's list of providers does not have {', '.join(unknown)}."
        yield Finding(Severity.UNKNOWN, TOPIC, f"{len(unknown)} types", problem, None, AZURE)
    if good := [name for name, own in types.items() if own.sent in served.get(name.lower(), ())]:
        old = [
            f"{name} {types[name].sent} (stable: {types[name].stable})" for name in good if types[name].is_superseded
        ]
        among = f"; previews with a stable successor: {', '.join(old)}" if old else ""
        text = f"Azure serves the version that is sent{among}"
        yield Finding(Severity.OK, TOPIC, f"{len(good)} types", text, None, AZURE)
