"""Prerequisites of a first deployment to Azure: things that somebody has to have, order or decide, and things that are
not needed.

The prerequisites are derived only from the settings and the catalogue. `check` compares the stack's needs with Azure's
answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from physical_ai.catalog import kubernetes_minor
from physical_ai.catalog.prerequisites import Tool, plans, tools
from physical_ai.settings import Settings
from physical_ai.settings.facts.data_services import managed
from physical_ai.settings.facts.network_access import private_api_server
from physical_ai.settings.facts.quota import LOW_PRIORITY, TOTAL, QuotaNeed, quota_needs
from physical_ai.settings.facts.required_secrets import required_secrets
from physical_ai.subscription.registrations import needed_registrations
from workbench.preflight.declared import ForeignScope
from workbench.preflight.features import needed_features
from workbench.preflight.judging import Which
from workbench.preflight.needs_foreign import foreign_rights, owners_parts, unlisted

OWN = "SUBSCRIPTION"
"""Placeholder for the id of the stack's subscription, which the settings do not contain."""
_QUOTAS = "https://portal.azure.com/#view/Microsoft_Azure_Capacity/QuotaMenuBlade/~/myQuotas"


@dataclass(frozen=True)
class Prerequisite:
    """Something that a person must have, order or decide before the first deployment."""

    topic: str
    what: str
    why: str
    get: str | None = None
    """Command that obtains or shows the prerequisite, or the address of a page that describes it."""
    present: bool | None = None
    """True if this machine has the prerequisite, False if it lacks it; None if that cannot be found out here."""


@dataclass(frozen=True)
class NotNeeded:
    """Something that a reader may expect to need, but does not."""

    what: str
    why: str


def prerequisites(
    settings: Settings, pins: Mapping[str, str], which: Which | None = None, foreign: Sequence[ForeignScope] = ()
) -> list[Prerequisite]:
    """Everything that a stack needs before `pulumi up`, in the order in which a person obtains it.

    Args:
        pins: Versions of `pulumi` and `kubelogin` that the checkout pins.
        which: Function that looks a program up on PATH; None to leave the installed programs unchecked.
        foreign: Needs of the declared resources in subscriptions other than the stack's own.
    """
    return [
        *_tools(settings, pins, which),
        *_rights(settings, foreign),
        *_providers(settings),
        *_quota(settings),
        *_ordered(settings),
        *_plans(),
    ]


def _tools(settings: Settings, pins: Mapping[str, str], which: Which | None) -> Iterator[Prerequisite]:
    known = {
        **pins,
        "kubernetes": kubernetes_minor(settings.cluster.kubernetes_version).minor,
        "osmo": settings.osmo.image_tag,
    }
    for each in tools():
        if each.when == "osmo" and not _has_osmo(settings):
            continue
        there = None if which is None else which(each.command) is not None
        version = each.version.format_map(known)
        only = "; for a pipeline only" if each.when == "pipeline" else ""
        yield Prerequisite("tool", _named(each, version), f"{each.purpose}{only}", each.get, there)


def _named(tool: Tool, version: str) -> str:
    return tool.name if version == "any" else f"{tool.name} {version}"


def _has_osmo(settings: Settings) -> bool:
    return settings.osmo.installs_service or settings.osmo.service_url is not None


def _rights(settings: Settings, foreign: Sequence[ForeignScope]) -> Iterator[Prerequisite]:
    role = "Owner of the subscription, or Contributor with User Access Administrator"
    why = "the deployment creates resources, and assigns roles to the cluster's identities"
    yield Prerequisite("right", role, why, "az role assignment list --assignee ID --all")
    if not settings.access.deployers:
        what = "the object id of who deploys, in access.deployers"
        command = "az ad signed-in-user show --query id -o tsv"
        yield Prerequisite("right", what, "it becomes administrator of the cluster; the program stops without", command)
    listed = foreign_rights(settings, OWN)
    for each in [*listed, *unlisted(listed, foreign)]:
        yield Prerequisite("right", f"{', '.join(each.actions)} on {each.scope}", f"for {each.what}", each.fix)
    for part in owners_parts(settings, OWN):
        yield Prerequisite("right", f"the owner of {part.what}", part.does, part.command)


def _providers(settings: Settings) -> Iterator[Prerequisite]:
    names = " ".join(needed_registrations(settings))
    command = f"for name in {names}; do az provider register --namespace $name; done"
    what = f"registration of the resource providers {names.replace(' ', ', ')}"
    yield Prerequisite("provider", what, "once for each subscription; it takes minutes", command)
    for namespace, feature in needed_features(settings):
        command = f"az feature register --namespace {namespace} --name {feature}"
        yield Prerequisite("feature", feature, "before the pools that need it are created", command)


def _quota(settings: Settings) -> Iterator[Prerequisite]:
    for need in quota_needs(settings):
        what = f"{need.usage} in {settings.region}: {need.initial} vCPU at first, {need.maximum} at most"
        yield Prerequisite("quota", what, f"{_meaning(need)}, for {', '.join(need.pools)}", _QUOTAS)


def _meaning(need: QuotaNeed) -> str:
    if need.usage == LOW_PRIORITY:
        return "all Spot vCPU of the region"
    return "all on-demand vCPU of the region" if need.usage == TOTAL else "the vCPU of a family"


def _ordered(settings: Settings) -> Iterator[Prerequisite]:
    """Prerequisites that need somebody else's decision or action, such as a DNS name, an Entra application
    or a secret.
    """
    access = settings.osmo.access
    if access.entra is not None:
        what = "an Entra application, and a group for each role of OSMO"
        why = "people log in through it; you need the right to register applications and to create groups"
        yield Prerequisite("tenant", what, why, "docs/tutorial.md#2-fill-in-the-stack")
    if access.host is not None:
        yield Prerequisite("name", f"the DNS name {access.host}", "the address of OSMO, and of its certificate")
    for _, name in required_secrets(settings):
        command = f"pulumi config set --secret --path 'physical-ai:secrets.{name}'"
        yield Prerequisite("secret", name, "encrypted in the stack file", command)
    if settings.protect and settings.cluster.api_access.authorized_ip_ranges:
        what = "the public ranges of your offices and CI runners, in cluster.apiAccess.authorizedIpRanges"
        yield Prerequisite("network", what, "the API server answers no other caller")
    if private_api_server(settings):
        what = "a way into the stack's network: its VPN, or a hub's"
        yield Prerequisite("network", what, "the API server has a private address", "docs/networks.md")


def _plans() -> Iterator[Prerequisite]:
    for each in plans():
        what = f"{each.repository} repository, plan {each.plan}"
        yield Prerequisite("GitHub", what, f"{each.gives}; for a pipeline only", "docs/delivery.md")


def not_needed(settings: Settings) -> list[NotNeeded]:
    """Prerequisites that this stack does not need, though stacks of this kind often do."""
    access = settings.osmo.access
    spot = all(pool.is_spot for pool in settings.pools.values())
    rows = (
        (access.entra is None, "an Entra application, and groups", "OSMO's login is none of Entra's"),
        (access.host is None, "a DNS name, a zone, a certificate", "OSMO has no public name"),
        (managed(settings) is None, "a managed database, cache, vault or registry", "the stack has none of Azure's"),
        (not required_secrets(settings), "a secret", "nothing in the stack names one"),
        (spot, "quota of a GPU family", "Spot nodes count toward the region's Spot vCPU"),
        (not needed_features(settings), "a preview feature of Azure", "no setting uses one"),
        (
            True,
            "a key of NVIDIA NGC",
            "charts, drivers and OSMO's images are public; a workflow's own image may need one",
        ),
        (True, "a plan of GitHub", "a deployment by hand uses none"),
    )
    return [NotNeeded(what, why) for applies, what, why in rows if applies]
