"""Checks with Azure that a deployment makes before it creates its first resource.

They are those checks of `physai check` that are fast and need only read rights. Existing pools and clusters are not
checked: they keep working even if Azure no longer offers their size or version.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from physical_ai.findings import Finding, Severity
from physical_ai.settings import Settings
from physical_ai.settings.facts.pools import CPU_POOL, SYSTEM_POOL, node_pools
from physical_ai.settings.facts.quota import quota_needs
from physical_ai.subscription.answers import Unanswered
from physical_ai.subscription.quotas import by_azures_name, quota_findings
from physical_ai.subscription.registrations import provider_findings
from physical_ai.subscription.rest import AzureRest
from physical_ai.subscription.sizes import size_findings
from physical_ai.subscription.versions import kubernetes_findings

Path = tuple[str, ...]
Question = Callable[[], Iterator[tuple[Path, Finding]]]


@dataclass(frozen=True)
class Present:
    """Version and pools of the stack's cluster before this deployment; empty before the first deployment."""

    version: str = ""
    """Kubernetes version; empty without a cluster."""
    pools: Mapping[str, int] | None = None
    """Number of nodes by pool; None without a cluster."""


@dataclass(frozen=True)
class Answered:
    """Problems that follow from Azure's answers, each with the path of its setting, and questions that Azure did not
    answer, each with the reason.
    """

    problems: tuple[tuple[Path, Finding], ...]
    unanswered: tuple[str, ...]


def ask(settings: Settings, azure: AzureRest) -> Answered:
    """Asks Azure all questions that the settings do not switch off, at the same time, and returns the answers."""
    wanted = settings.preflight
    try:
        present = _present(settings, azure)
    except Unanswered as problem:
        return Answered((), (f"the stack's cluster: {problem}",))
    questions: dict[str, Question] = {}
    if wanted.quota:
        questions["quota"] = lambda: _quota(settings, azure, present)
    if wanted.sizes:
        questions["sizes"] = lambda: _sizes(settings, azure, present)
    if wanted.kubernetes:
        questions["Kubernetes version"] = lambda: _version(settings, azure, present)
    if wanted.providers:
        questions["resource providers"] = lambda: _providers(settings, azure)
    if not questions:
        return Answered((), ())
    with ThreadPoolExecutor(len(questions)) as threads:
        running = {name: threads.submit(_answer, question) for name, question in questions.items()}
    found = {name: each.result() for name, each in running.items()}
    return Answered(
        tuple(each for rows in found.values() if not isinstance(rows, str) for each in rows if each[1].is_error),
        tuple(f"{name}: {rows}" for name, rows in found.items() if isinstance(rows, str)),
    )


def _answer(question: Question) -> Sequence[tuple[Path, Finding]] | str:
    """Findings of a question, or the reason why it has no answer."""
    try:
        return list(question())
    except Unanswered as problem:
        return str(problem)


def _present(settings: Settings, azure: AzureRest) -> Present:
    version = azure.cluster_version(settings.stack)
    return Present() if version is None else Present(version, azure.pools(settings.stack))


def _quota(settings: Settings, azure: AzureRest, present: Present) -> Iterator[tuple[Path, Finding]]:
    needs = quota_needs(settings, present.pools or {})
    if not any(each.initial for each in needs):
        return
    try:
        offers = {size.lower(): offer for size, offer in azure.sizes(settings.region).items()}
    except Unanswered:
        offers = {}  # the quota then goes by the catalogue's families
    named = [by_azures_name(each, offers) for each in needs if each.initial]
    for need, found in zip(named, quota_findings(settings, azure.usages(settings.region), named), strict=True):
        if found.severity is Severity.UNKNOWN:
            raise Unanswered(found.problem)
        yield (*_pool(need.pools[0]), "scale"), found


def _sizes(settings: Settings, azure: AzureRest, present: Present) -> Iterator[tuple[Path, Finding]]:
    new = {name: pool for name, pool in node_pools(settings).items() if name not in (present.pools or {})}
    if not new:
        return
    offers = {size.lower(): offer for size, offer in azure.sizes(settings.region).items()}
    if not offers:
        raise Unanswered(f"Azure lists no sizes in {settings.region}")
    for name, pool in new.items():
        for found in size_findings(name, pool, offers.get(pool.sku.lower()), settings.region):
            key = "zones" if "zone" in found.problem else "osDisk" if "OS disk" in found.problem else "sku"
            yield (*_pool(name), key), found


def _pool(name: str) -> Path:
    """Path of a pool in the settings."""
    return {SYSTEM_POOL: ("systemPool",), CPU_POOL: ("cpuPool",)}.get(name, ("pools", name))


def _version(settings: Settings, azure: AzureRest, present: Present) -> Iterator[tuple[Path, Finding]]:
    version = settings.cluster.kubernetes_version
    if _minor(present.version) == _minor(version):
        return
    offered = azure.kubernetes(settings.region)
    for found in kubernetes_findings(offered, version, settings.region, settings.cluster.support_plan):
        yield ("cluster", "kubernetesVersion"), found


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def _providers(settings: Settings, azure: AzureRest) -> Iterator[tuple[Path, Finding]]:
    for found in provider_findings(settings, azure.providers()):
        yield _OF_PROVIDER.get(found.where, ("preflight", "providers")), found


_OF_PROVIDER: Mapping[str, Path] = {
    "Microsoft.DBforPostgreSQL": ("dataServices",),
    "Microsoft.Cache": ("dataServices",),
    "Microsoft.Storage": ("dataServices",),
    "Microsoft.KeyVault": ("dataServices",),
    "Microsoft.ContainerRegistry": ("dataServices",),
    "Microsoft.Monitor": ("monitoring",),
    "Microsoft.AlertsManagement": ("monitoring",),
    "Microsoft.Dashboard": ("monitoring",),
    "Microsoft.Insights": ("monitoring",),
    "Microsoft.OperationalInsights": ("monitoring",),
}
"""Setting that makes a stack need a resource provider, by the provider's namespace."""
