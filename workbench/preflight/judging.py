"""Checks before a deployment: comparison of a stack's needs with Azure's answers, the catalogue and this machine."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from physical_ai.catalog import kubernetes_minor, kubernetes_phase, regions, sources, vm_size
from physical_ai.findings import Finding, Severity
from physical_ai.settings import NodePool, Pool, Settings
from physical_ai.settings.facts.data_services import DataNames, managed
from physical_ai.settings.facts.images import import_command
from physical_ai.settings.facts.pool_regions import Place, place
from physical_ai.settings.facts.pools import node_pools
from physical_ai.settings.facts.quota import quota_needs
from workbench.preflight import needs
from workbench.preflight.answers import Azure, SizeOffer, Subscription, Unanswered
from workbench.preflight.api_versions import version_findings
from workbench.preflight.capabilities import capability_findings
from workbench.preflight.databases import database_findings
from workbench.preflight.declared import ForeignScope
from workbench.preflight.features import feature_findings, needed_features
from workbench.preflight.names import name_findings
from workbench.preflight.needs_foreign import Foreign, foreign_rights, owners_parts, unlisted
from workbench.preflight.needs_private import private_actions
from workbench.preflight.quotas import by_azures_name, need_text, quota_findings

AZURE, CATALOGUE, MACHINE = "Azure", "the catalogue", "this machine"
KUBELOGIN = "kubelogin"
Which = Callable[[str], str | None]
"""Function that returns the path of a command on PATH, like `shutil.which`; None if there is no such command."""
ForeignScopes = Callable[[str], Sequence[ForeignScope]]


def check(
    settings: Settings,
    azure: Azure | None,
    which: Which,
    today: datetime.date,
    foreign: ForeignScopes = lambda own: (),
) -> list[Finding]:
    """All findings before a deployment; if `azure` is None, only those that follow from the catalogue and this machine.

    Args:
        foreign: Function from the stack's subscription to the needs of the declared resources outside of it.
    """
    findings = [*_tools(which), *_region(settings, azure, today)]
    findings += _asked("image", "imported", lambda: _imports(settings, azure))
    if azure is None:
        findings += _sizes_of_catalogue(settings)
        findings += [_unasked("quota", need.usage, need_text(need)) for need in quota_needs(settings)]
        findings.append(
            _unasked(
                "provider",
                "registrations",
                ", ".join(needed_registrations(settings)),
            )
        )
        findings += [_unasked("feature", each[1], "its registration") for each in needed_features(settings)]
        findings.append(_unasked("role", "you", "rights on the subscription"))
        return findings
    findings += _asked("subscription", "subscription", lambda: _subscription(azure.subscription()))
    findings += _asked("size", "all pools", lambda: _sizes(settings, azure))
    findings += _asked("quota", "all usages", lambda: _quota(settings, azure))
    findings += _asked("provider", "all", lambda: _providers(settings, azure))
    used = needs.namespaces(**_parts(settings), private=private_actions(settings))
    findings += _asked("api version", "all", lambda: version_findings(azure, used))
    for namespace, feature in needed_features(settings):
        question = partial(feature_findings, azure, namespace, feature)
        findings += _asked("feature", feature, question)
    findings += _asked("role", "you", lambda: _roles(settings, azure))
    findings += _asked("network", "others", lambda: _by_hand(settings, azure))
    findings += _asked("role", "others", lambda: _on_foreign(settings, azure, foreign))
    if managed(settings) is not None:
        findings += _asked("name", "data services", lambda: name_findings(settings, azure, azure.subscription().id))
        findings += _asked(
            "database", "PostgreSQL", lambda: database_findings(settings, azure, azure.subscription().id)
        )
    return findings


def _imports(settings: Settings, azure: Azure | None) -> Iterator[Finding]:
    """Findings about images that somebody has to import into the stack's registry. Azure's management API does not show
    whether the registry has them.
    """
    given = managed(settings)
    for image in given.registry.imported if given is not None else ():
        registry = "REGISTRY" if azure is None else DataNames(settings.stack, azure.subscription().id).registry
        problem = (
            "Whether the stack's registry has it is not known. It can be imported once the registry exists; Pods wait."
        )
        yield Finding(Severity.UNKNOWN, "image", image, problem, import_command(image, registry), CATALOGUE)


def _parts(settings: Settings) -> dict[str, bool]:
    """Optional parts of a stack that need further rights and registrations; True for each part that the stack has."""
    return {
        "metrics": settings.monitoring.metrics == "azure",
        "data": managed(settings) is not None,
    }


def needed_registrations(settings: Settings) -> list[str]:
    """The resource providers that must be registered for the resources that the program declares."""
    return needs.namespaces(**_parts(settings), private=private_actions(settings))


def _asked(topic: str, subject: str, question: Callable[[], Iterable[Finding]]) -> list[Finding]:
    """The findings that `question` returns. If Azure does not answer, a finding says so, and the other checks go on."""
    try:
        return list(question())
    except Unanswered as problem:
        return [Finding(Severity.UNKNOWN, topic, subject, f"Azure did not answer: {problem}.", None, AZURE)]


def _unasked(topic: str, subject: str, what: str) -> Finding:
    return Finding(Severity.UNKNOWN, topic, subject, f"{what}: Azure was not queried.", None, CATALOGUE)


def _tools(which: Which) -> Iterator[Finding]:
    where = which(KUBELOGIN)
    if where is None:
        problem = "kubelogin is not on PATH: nothing could be deployed in the cluster."
        fix = "https://azure.github.io/kubelogin/install.html"
        yield Finding(Severity.ERROR, "tool", KUBELOGIN, problem, fix, MACHINE)
    else:
        yield Finding(Severity.OK, "tool", KUBELOGIN, where, None, MACHINE)


def _subscription(found: Subscription) -> Iterator[Finding]:
    name = f"{found.name} ({found.id})"
    if found.state == "Enabled":
        yield Finding(Severity.OK, "subscription", name, "enabled", None, AZURE)
    else:
        yield Finding(
            Severity.ERROR, "subscription", name, f"Its state is {found.state}.", "Choose another one.", AZURE
        )


def _region(settings: Settings, azure: Azure | None, today: datetime.date) -> list[Finding]:
    """Findings about the Kubernetes version, from Azure's list for the region, or, if Azure is not asked, from the
    catalogue's calendar.
    """
    version, region = settings.cluster.kubernetes_version, settings.region
    if azure is not None:
        plan = settings.cluster.support_plan
        return _asked("kubernetes", version, lambda: _kubernetes(azure, version, region, plan))
    phase = kubernetes_phase(kubernetes_minor(version), today, long_term=settings.cluster.long_term)
    if phase == "supported":
        return [Finding(Severity.OK, "kubernetes", version, "supported by AKS, by the calendar", None, CATALOGUE)]
    state = {"due": "is not released yet", "platform": "is out of support: no new cluster", "gone": "was removed"}[
        phase
    ]
    return [Finding(Severity.ERROR, "kubernetes", version, f"Kubernetes {version} {state}.", None, CATALOGUE)]


def _kubernetes(azure: Azure, version: str, region: str, plan: str) -> Iterator[Finding]:
    offered = azure.kubernetes(region)
    if not offered:
        yield Finding(
            Severity.ERROR, "kubernetes", version, f"AKS has no versions in {region}.", "Another region.", AZURE
        )
        return
    minor = next((each for each in offered if each.minor == ".".join(version.split(".")[:2])), None)
    known = ", ".join(each.minor for each in offered if not each.preview and (not each.plans or plan in each.plans))
    if minor is None or (version.count(".") == 2 and version not in minor.patches):
        near = ", ".join(minor.patches) if minor else known
        problem = f"AKS creates no clusters with Kubernetes {version} in {region}."
        yield Finding(Severity.ERROR, "kubernetes", version, problem, f"Offered: {near}.", AZURE)
    elif minor.plans and plan not in minor.plans:
        problem = f"AKS has Kubernetes {version} in {region} with the support plan {', '.join(minor.plans)} only."
        fix = f"Offered with {plan}: {known}."
        if "AKSLongTermSupport" in minor.plans:
            fix += " Or cluster: {supportPlan: AKSLongTermSupport, tier: Premium}."
        yield Finding(Severity.ERROR, "kubernetes", version, problem, fix, AZURE)
    elif minor.preview:
        problem = f"Kubernetes {version} is a preview in {region}."
        yield Finding(Severity.WARNING, "kubernetes", version, problem, f"Offered: {known}.", AZURE)
    else:
        yield Finding(Severity.OK, "kubernetes", version, f"offered in {region}", None, AZURE)


def _sizes_of_catalogue(settings: Settings) -> Iterator[Finding]:
    for name, pool in node_pools(settings).items():
        found: Place = place(pool, settings.region)
        bad = [verdict for verdict in found.verdicts if verdict.is_error]
        for verdict in bad:
            yield Finding(Severity.ERROR, "size", name, verdict.problem, verdict.fix, CATALOGUE)
        if bad:
            continue
        if found.evidence == "documented":
            yield Finding(Severity.OK, "size", name, f"documented for {settings.region}: {pool.sku}", None, CATALOGUE)
        else:
            how = (
                "has a price there, which does not prove capacity"
                if found.evidence == "price"
                else "is believed to be there"
            )
            yield Finding(Severity.UNKNOWN, "size", name, f"{pool.sku} {how}; Azure was not queried.", None, CATALOGUE)


def _sizes(settings: Settings, azure: Azure) -> Iterator[Finding]:
    offers = azure.sizes(settings.region)
    if not offers:
        problem, fix = (
            f"The subscription has no sizes in {settings.region}.",
            "Check the name of the region, and that it is enabled.",
        )
        yield Finding(Severity.ERROR, "region", settings.region, problem, fix, AZURE)
        return
    by_name = {name.lower(): offer for name, offer in offers.items()}
    for name, pool in node_pools(settings).items():
        found = list(size_findings(name, pool, by_name.get(pool.sku.lower()), settings.region))
        yield from found
        if not any(each.rule == "size" for each in found):
            yield Finding(Severity.OK, "size", name, f"{pool.sku} is offered", None, AZURE)


def size_findings(name: str, pool: NodePool, offer: SizeOffer | None, region: str) -> Iterator[Finding]:
    """Findings about differences between Azure's offer of a size and the pool or the catalogue; none if there are no
    differences.
    """
    if offer is None:
        others = [each.name for each in regions().values() if pool.sku in each.sizes and each.name != region]
        fix = f"According to the catalogue, it is offered in {', '.join(others)}." if others else None
        yield Finding(
            Severity.ERROR, "size", name, f"{region} does not offer {pool.sku} to this subscription.", fix, AZURE
        )
        return
    if offer.refused:
        problem = f"This subscription may not use {pool.sku} in {region}: {offer.refused}."
        yield Finding(Severity.ERROR, "size", name, problem, "Request access in a support request.", AZURE)
    missing = sorted(set(pool.zones) - set(offer.zones))
    if missing:
        has = f"it is in {', '.join(offer.zones)}" if offer.zones else "it is offered without zones"
        problem = f"{pool.sku} is not offered in zone {', '.join(missing)}; {has}."
        yield Finding(Severity.ERROR, "size", name, problem, "Change the pool's zones.", AZURE)
    if isinstance(pool, Pool) and pool.is_spot and offer.spot is False:
        yield Finding(Severity.ERROR, "size", name, f"{pool.sku} can't be Spot.", "priority: Regular", AZURE)
    row = vm_size(pool.sku)
    if offer.family and offer.family.lower() != row.family.lower():
        problem = f"Azure counts {pool.sku} toward the quota family {offer.family}, the catalogue toward {row.family}."
        yield Finding(Severity.WARNING, "size", name, problem, f"Correct {sources.SIZES}.", AZURE)
    if offer.vcpus is not None and offer.vcpus != row.vcpus:
        problem = f"Azure reports {offer.vcpus} vCPU for {pool.sku}, the catalogue {row.vcpus}."
        yield Finding(Severity.WARNING, "size", name, problem, f"Correct {sources.SIZES}.", AZURE)
    yield from capability_findings(name, pool, offer.capabilities)


def _quota(settings: Settings, azure: Azure) -> Iterator[Finding]:
    wanted = quota_needs(settings)
    try:
        offers = {size.lower(): offer for size, offer in azure.sizes(settings.region).items()}
    except Unanswered:
        offers = {}  # `_sizes` reports it; the quota then uses the catalogue's families
    yield from quota_findings(
        settings, azure.usages(settings.region), [by_azures_name(each, offers) for each in wanted]
    )


def _providers(settings: Settings, azure: Azure) -> Iterator[Finding]:
    states = {name.lower(): state for name, state in azure.providers().items()}
    for name in needed_registrations(settings):
        state = states.get(name.lower(), "not in the subscription's list")
        if state == "Registered":
            yield Finding(Severity.OK, "provider", name, "registered", None, AZURE)
        else:
            fix = f"az provider register --namespace {name}"
            yield Finding(Severity.ERROR, "provider", name, f"It is not registered ({state}).", fix, AZURE)


def _roles(settings: Settings, azure: Azure) -> Iterator[Finding]:
    wanted = needs.actions(**_parts(settings), private=private_actions(settings))
    lacking = needs.denied(wanted, azure.permissions())
    if not lacking:
        yield Finding(
            Severity.OK, "role", "you", "has all rights on the subscription that a deployment needs", None, AZURE
        )
    fix = (
        "Owner, or Contributor with User Access Administrator; a role on the resource group alone is not visible here."
    )
    for action in lacking:
        yield Finding(Severity.ERROR, "role", "you", f"may not: {action}.", fix, AZURE)


def _foreign(needed: Foreign, azure: Azure) -> Iterator[Finding]:
    """Findings about rights on resources of other owners. A role on the stack's own subscription need not
    include them.
    """
    lacking = needs.denied(needed.actions, azure.permissions(needed.scope))
    if not lacking:
        problem = f"you have the rights that a deployment needs on {needed.scope}"
        yield Finding(Severity.OK, "role", needed.what, problem, None, AZURE)
    for action in lacking:
        problem = f"You do not have the permission {action} on {needed.scope}."
        yield Finding(Severity.ERROR, "role", needed.what, problem, needed.fix, AZURE)


def _on_foreign(settings: Settings, azure: Azure, foreign: ForeignScopes) -> Iterator[Finding]:
    own = azure.subscription().id
    listed = foreign_rights(settings, own)
    for each in (*listed, *unlisted(listed, foreign(own))):
        yield from _asked("role", each.what, lambda each=each: _foreign(each, azure))


def _by_hand(settings: Settings, azure: Azure) -> Iterator[Finding]:
    """Findings about steps that owners of other resources take by hand, each with the command."""
    for part in owners_parts(settings, azure.subscription().id):
        problem = f"Its owner {part.does}; the deployment does not."
        yield Finding(Severity.INFO, "network", part.what, problem, part.command, CATALOGUE)
