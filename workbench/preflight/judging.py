"""Checks before a deployment: comparison of a stack's needs with Azure's answers, the catalogue and this machine."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from physical_ai.catalog import kubernetes_minor, kubernetes_phase
from physical_ai.findings import Finding, Severity
from physical_ai.settings import Settings
from physical_ai.settings.facts.data_services import DataNames, managed
from physical_ai.settings.facts.images import import_command
from physical_ai.settings.facts.pool_regions import Place, place
from physical_ai.settings.facts.pools import node_pools
from physical_ai.settings.facts.quota import quota_needs
from physical_ai.subscription import needs
from physical_ai.subscription.answers import Azure, Subscription, Unanswered
from physical_ai.subscription.needs_private import private_actions
from physical_ai.subscription.quotas import by_azures_name, need_text, quota_findings
from physical_ai.subscription.registrations import needed_registrations, parts_of, provider_findings
from physical_ai.subscription.sizes import size_findings
from physical_ai.subscription.versions import kubernetes_findings
from workbench.preflight.api_versions import version_findings
from workbench.preflight.databases import database_findings
from workbench.preflight.declared import ForeignScope
from workbench.preflight.features import feature_findings, needed_features
from workbench.preflight.names import name_findings
from workbench.preflight.needs_foreign import Foreign, foreign_rights, owners_parts, unlisted

AZURE, CATALOGUE, MACHINE = "Azure", "the catalogue", "this machine"
KUBELOGIN = "kubelogin"
Which = Callable[[str], str | None]
"""Function that returns the path of a command on PATH, like `shutil.which`; None if there is no such command."""
ForeignScopes = Callable[[str], Sequence[ForeignScope]]
Rights = Callable[[Azure], Iterable[Finding]]
"""Function that returns findings about the rights that the declared resources need and the caller may lack."""


def check(
    settings: Settings,
    azure: Azure | None,
    which: Which,
    today: datetime.date,
    foreign: ForeignScopes = lambda own: (),
    *,
    rights: Rights | None = None,
) -> list[Finding]:
    """All findings before a deployment; if `azure` is None, only findings that follow from the catalogue and this
    machine.

    Args:
        foreign: Function that returns the rights that declared resources need in other subscriptions, from the id of
            the stack's subscription.
        rights: Function that returns findings about the rights that the declared resources need; None to check only the
            rights that any stack with these settings needs.
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
    findings += _asked("provider", "all", lambda: provider_findings(settings, azure.providers()))
    used = needed_registrations(settings)
    findings += _asked("api version", "all", lambda: version_findings(azure, used))
    for namespace, feature in needed_features(settings):
        question = partial(feature_findings, azure, namespace, feature)
        findings += _asked("feature", feature, question)
    findings += _asked("role", "you", lambda: _roles(settings, azure) if rights is None else rights(azure))
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


def _asked(topic: str, subject: str, question: Callable[[], Iterable[Finding]]) -> list[Finding]:
    """The findings that the function `question` returns. If Azure does not answer, one finding with severity UNKNOWN
    that says so.
    """
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
        return _asked(
            "kubernetes", version, lambda: kubernetes_findings(azure.kubernetes(region), version, region, plan)
        )
    phase = kubernetes_phase(kubernetes_minor(version), today, long_term=settings.cluster.long_term)
    if phase == "supported":
        return [Finding(Severity.OK, "kubernetes", version, "supported by AKS, by the calendar", None, CATALOGUE)]
    state = {"due": "is not released yet", "platform": "is out of support: no new cluster", "gone": "was removed"}[
        phase
    ]
    return [Finding(Severity.ERROR, "kubernetes", version, f"Kubernetes {version} {state}.", None, CATALOGUE)]


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


def _quota(settings: Settings, azure: Azure) -> Iterator[Finding]:
    wanted = quota_needs(settings)
    try:
        offers = {size.lower(): offer for size, offer in azure.sizes(settings.region).items()}
    except Unanswered:
        offers = {}  # `_sizes` reports this; quota is then checked with the catalogue's families
    yield from quota_findings(
        settings, azure.usages(settings.region), [by_azures_name(each, offers) for each in wanted]
    )


def _roles(settings: Settings, azure: Azure) -> Iterator[Finding]:
    wanted = needs.actions(**parts_of(settings), private=private_actions(settings))
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
    """Findings about the caller's rights on a resource of another owner. Azure is asked about the resource itself,
    because a role on the stack's own subscription does not apply to the resource.
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
