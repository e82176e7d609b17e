"""Findings about the PostgreSQL server that a stack declares: does Azure offer its features to the subscription in the
region?
"""

from __future__ import annotations

from collections.abc import Iterator

from physical_ai.catalog.postgres import postgres_regions
from physical_ai.citations import changed_in
from physical_ai.findings import Finding, Severity
from physical_ai.settings import Settings
from physical_ai.settings.facts.data_services import DataFacts, DataNames, data_facts, managed
from physical_ai.settings.facts.naming import Names
from physical_ai.subscription.answers import Azure, PostgresOffer

TOPIC, SUBJECT, SOURCE = "database", "PostgreSQL", "Azure"
_KIND = "Microsoft.DBforPostgreSQL/flexibleServers"


def database_findings(settings: Settings, azure: Azure, subscription_id: str) -> Iterator[Finding]:
    """Findings about the managed PostgreSQL server of a stack; none for a stack without one. The features are not
    checked if the server exists already.

    Raises Unanswered.
    """
    given = managed(settings)
    if given is None:
        return
    name, group = DataNames(settings.stack, subscription_id).postgres, Names(settings.stack).resource_group
    if azure.name_refused(_KIND, name) is not None and azure.exists(group, _KIND, name):
        yield Finding(Severity.OK, TOPIC, SUBJECT, "the server exists", None, SOURCE)
        return
    plan, offer = data_facts(settings, given), azure.postgres(settings.region)
    found = list(_refusals(settings.region, plan, given.postgres.version, offer))
    yield from found
    if not found:
        what = f"{plan.postgres_size}, standby {plan.high_availability}"
        yield Finding(Severity.OK, TOPIC, SUBJECT, f"{settings.region} offers it: {what}", None, SOURCE)
    yield from _differences(settings.region, offer)


def _refusals(region: str, plan: DataFacts, version: str, offer: PostgresOffer) -> Iterator[Finding]:
    if offer.refused is not None:
        problem = f"This subscription may have no PostgreSQL server in {region}: {offer.refused}."
        yield _error(problem, "Request access in a support request, or choose another region.")
        return
    if offer.sizes and plan.postgres_size not in offer.sizes:
        problem = f"{region} offers this subscription no {plan.postgres_size}."
        near = [each for each in offer.sizes if each.partition("_v")[0] == plan.postgres_size.partition("_v")[0]]
        yield _error(problem, f"dataServices.postgres.size: one of {', '.join(sorted(near or offer.sizes)[:6])}.")
    modes = offer.sizes.get(plan.postgres_size, ())
    mode = {"zoneRedundant": "ZoneRedundant", "sameZone": "SameZone"}.get(plan.high_availability)
    setting = "dataServices.postgres.highAvailability"
    if mode == "ZoneRedundant" and (offer.zone_redundant is False or (modes and mode not in modes)):
        yield _error(f"{region} makes no new servers with a standby in another zone.", f"{setting}: sameZone, or none.")
    elif mode == "SameZone" and modes and mode not in modes:
        yield _error(f"{region} offers no {plan.postgres_size} with a standby in the same zone.", f"{setting}: none.")
    elif mode == "ZoneRedundant" and plan.geo_backup and offer.zone_redundant_and_geo is False:
        problem = f"{region} has no copy of backups in another region with a standby in another zone."
        yield _error(problem, f"{setting}: sameZone, or dataServices.postgres.geoBackup: false.")
    if plan.geo_backup and offer.geo_backup is False:
        yield _error(f"{region} copies no backups to another region.", "dataServices.postgres.geoBackup: false.")
    if offer.versions and version not in offer.versions:
        problem = f"{region} makes no servers of PostgreSQL {version}."
        yield _error(problem, f"dataServices.postgres.version: one of {', '.join(offer.versions)}.")


def _differences(region: str, offer: PostgresOffer) -> Iterator[Finding]:
    """Findings about features of PostgreSQL in `region` for which Azure's answer differs from the catalogue. A wrong
    row in the catalogue matters, because production stacks take defaults from it.
    """
    row = postgres_regions().get(region)
    if row is None:
        return
    for word, said, known in (
        ("a standby in another zone", offer.zone_redundant, row.zone_redundant),
        ("a copy of backups elsewhere", offer.geo_backup, row.geo_backup),
    ):
        answer = {True: "yes", False: "no"}.get(said) if said is not None else None
        if answer is not None and answer != known:
            problem = f"To {word} in {region} Azure says {answer}, the catalogue {known} (of {row.date})."
            fix = f"Correct, with how: seen, {changed_in('physical_ai/catalog/data/postgres_regions.yaml')}."
            yield Finding(Severity.INFO, "catalogue", SUBJECT, problem, fix, SOURCE)


def _error(problem: str, fix: str) -> Finding:
    return Finding(Severity.ERROR, TOPIC, SUBJECT, problem, fix, SOURCE)
