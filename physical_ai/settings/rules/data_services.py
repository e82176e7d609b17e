"""Rules about the data services: what a region and a size support, and the text that allows the deletion of data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime

from physical_ai.catalog import regions
from physical_ai.catalog.data_services import NEED_LOGIN, UPSTREAM_SUFFIX, UPSTREAMS, is_upstream
from physical_ai.catalog.lookup import nearest
from physical_ai.catalog.postgres import is_no_postgres_size, postgres_regions, postgres_sizes
from physical_ai.planning.gpu_admission import MUTATION_MINOR
from physical_ai.settings.facts.data_services import DataFacts, data_facts, deletion_words
from physical_ai.settings.facts.images import chart_images, import_command, program_images
from physical_ai.settings.facts.network_access import private_endpoints
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.models.data_services import DataServices
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.rules.finding import Rule, SettingFinding, Trust, error, warning

_HERE: Path = ("dataServices",)
_STANDBY: Path = (*_HERE, "postgres", "highAvailability")
_SIZE: Path = (*_HERE, "postgres", "size")
_RESTORE: Path = (*_HERE, "postgres", "restore")
_UPSTREAMS: Path = (*_HERE, "registry", "upstreams")

ZONES = Rule("data-zones", "physical_ai/catalog/data/regions.yaml")
OFFERED = Rule("data-region", "physical_ai/catalog/data/regions.yaml")
BURSTABLE = Rule("postgres-burstable", "PostgreSQL Flexible Server docs, high availability, limitations")
PRIVATE_REGISTRY = Rule("registry-premium", "Azure docs, container-registry-skus")
UPSTREAM_LOGIN = Rule("registry-upstream", "Azure docs, container-registry/artifact-cache-overview")
UPSTREAM = Rule("registry-upstream-unknown", "Azure/acr#862, 2025-12-18")
ONLY = Rule("registry-only", "Kubernetes docs, mutating-admission-policy")
DELETION = Rule("data-deletion", "docs/data-services.md")


def check_data_services(settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    """Findings of all rules about data services."""
    given = settings.data_services
    if given is None or not trust(_HERE):
        return
    if given.is_in_cluster:
        yield from _deletion(settings, given)
        return
    plan = data_facts(settings, given)
    yield from _offered(settings)
    yield from _postgres(settings, given, plan)
    yield from _new_servers(settings, plan)
    yield from _restore(given, plan)
    yield from _storage(settings, given)
    yield from _registry(settings, given, plan, trust)
    yield from _deletion(settings, given)


def _offered(settings: Settings) -> Iterator[SettingFinding]:
    """Findings about services that Azure does not offer in the region.

    Nothing is known about a region that is not in the catalogue.
    """
    region = regions().get(settings.region)
    if region is None:
        return
    for key, service, offered in (
        ("postgres", "PostgreSQL Flexible Server", region.postgres),
        ("redis", "Azure Managed Redis", region.managed_redis),
    ):
        if offered == "no":
            problem = f"Azure does not offer {service} in {region.name}."
            fix = "Choose another region, or leave dataServices out."
            yield error((*_HERE, key), problem, fix, others=(("region",),), rule=OFFERED)
        elif offered == "unknown":
            problem = f"It is not known whether Azure offers {service} in {region.name}."
            fix = f"Ask Azure, and write it to {OFFERED.source}."
            yield warning((*_HERE, key), problem, fix, others=(("region",),), rule=OFFERED)


def _has_no_zones(settings: Settings) -> bool:
    """True for a region without zones; False for a region that is not in the catalogue, about which nothing is
    known.
    """
    region = regions().get(settings.region)
    return region is not None and not region.zones


def _postgres(settings: Settings, given: DataServices, plan: DataFacts) -> Iterator[SettingFinding]:
    if given.postgres.high_availability == "zoneRedundant" and _has_no_zones(settings):
        problem = f"{settings.region} has no availability zones for a standby server."
        yield error(_STANDBY, problem, "Write sameZone or none, or leave it out.", rule=ZONES)
    if is_no_postgres_size(plan.postgres_size):
        (listed,) = postgres_sizes()
        near = nearest(plan.postgres_size, listed.names) or "Standard_D2ds_v5"
        problem = f"PostgreSQL Flexible Server has no size {plan.postgres_size}."
        yield error(_SIZE, problem, f"Did you mean {near}?", rule=Rule("postgres-size", listed.source))
    if plan.postgres_tier == "Burstable" and plan.high_availability != "none":
        problem = f"A burstable server, {plan.postgres_size}, has no standby."
        fix = "size: Standard_D2ds_v5, or highAvailability: none."
        yield error(_SIZE, problem, fix, others=(_STANDBY,), rule=BURSTABLE)


def _new_servers(settings: Settings, plan: DataFacts) -> Iterator[SettingFinding]:
    """Warnings about a standby, geo-redundant backups or a size that the region does not offer for new database
    servers.

    They are warnings, not errors, because an existing server keeps these features.
    """
    row = postgres_regions().get(settings.region)
    if row is None:
        return
    rule, known = Rule("postgres-region", row.source), f"on {row.date}; a server that has it keeps it"
    fix = "`physai check` asks Azure. Otherwise"
    zones = plan.high_availability == "zoneRedundant" and not _has_no_zones(settings)
    if zones and row.zone_redundant == "no":
        problem = f"{settings.region} made no new servers with a standby in another zone {known}."
        yield warning(_STANDBY, problem, f"{fix} write sameZone, or leave it out.", rule=rule)
    elif zones and plan.geo_backup and row.zone_redundant_and_geo == "no":
        problem = f"{settings.region} had no copy of backups elsewhere with a standby in another zone {known}."
        yield warning(_STANDBY, problem, f"{fix} write sameZone, or geoBackup: false.", rule=rule)
    if plan.geo_backup and row.geo_backup == "no":
        problem = f"{settings.region} did not copy backups to another region {known}."
        yield warning((*_SIZE[:-1], "geoBackup"), problem, f"{fix} write false, or leave it out.", rule=rule)
    if not row.has_size(plan.postgres_size):
        had = ", ".join(f"v{each}" for each in row.generations)
        problem = f"{settings.region} had sizes of the generations {had} {known}, and no {plan.postgres_size}."
        yield warning(_SIZE, problem, f"{fix} write {row.default_size}, or leave it out.", rule=rule)


def _restore(given: DataServices, plan: DataFacts) -> Iterator[SettingFinding]:
    restore = given.postgres.restore
    if restore is None:
        return
    try:
        datetime.fromisoformat(restore.at)
    except ValueError:
        problem = f"There is no {restore.at}."
        yield error((*_RESTORE, "at"), problem, "A time in UTC, like '2026-11-20T08:00:00Z'.")
    if restore.standby and plan.high_availability == "none":
        problem = "The stack's database has no standby, so its restored server gets none."
        yield error((*_RESTORE, "standby"), problem, "Remove it, or set highAvailability.", others=(_STANDBY,))


def _storage(settings: Settings, given: DataServices) -> Iterator[SettingFinding]:
    redundancy = given.storage.redundancy
    if redundancy in ("ZRS", "GZRS") and _has_no_zones(settings):
        problem = f"{settings.region} has no availability zones to spread copies over."
        fix = f"redundancy: {'GRS' if redundancy == 'GZRS' else 'LRS'}."
        yield error((*_HERE, "storage", "redundancy"), problem, fix, rule=ZONES)


def _only(settings: Settings, given: DataServices, trust: Trust) -> Iterator[SettingFinding]:
    """Warnings and errors about images that the platform needs, but that the registry does not cache, so that no Pod
    could pull them. A Kubernetes version that cannot redirect images to the registry is an error, too.
    """
    here, version = (*_UPSTREAMS[:-1], "only"), ("cluster", "kubernetesVersion")
    if trust(version) and int(settings.cluster.kubernetes_version.split(".")[1]) < MUTATION_MINOR:
        problem = "Images are replaced by a MutatingAdmissionPolicy, which Kubernetes has from 1.36."
        yield error(here, problem, "Raise cluster.kubernetesVersion, or remove it.", others=(version,), rule=ONLY)
    for image, path in program_images(settings).items():
        if _is_missing(given, image):
            problem, fix = _missing(image, "name another image, or ")
            yield warning(here, problem, fix, others=(path,), rule=ONLY)
    # A missing chart image is an error: the release is declared, and would wait for its Pods.
    for image, path in chart_images(settings).items():
        if _is_missing(given, image):
            problem, fix = _missing(image)
            yield error(here, problem, fix, others=(path,), rule=ONLY)


def _is_missing(given: DataServices, image: str) -> bool:
    return image.partition("/")[0] not in given.registry.upstreams and image.partition("@")[0] not in _names(given)


def _names(given: DataServices) -> set[str]:
    return {image.partition("@")[0] for image in given.registry.imported}


def _missing(image: str, otherwise: str = "") -> tuple[str, str]:
    """Problem and fix for an image that the registry does not cache."""
    host = image.partition("/")[0]
    problem = f"The registry does not cache {host}, so Pods can't pull {image} unless it is imported."
    add = "" if host in NEED_LOGIN or not is_upstream(host) else f"add {host} to registry.upstreams, or "
    name = image.partition("@")[0]
    if add and ":" not in name:  # a repository without a tag stands for all its images
        return problem, f"Add {host} to registry.upstreams."
    fix = f"{add}{otherwise}import it ({import_command(image)}) and list {name} in registry.imported."
    return problem, f"{fix[0].upper()}{fix[1:]}"


def _registry(settings: Settings, given: DataServices, plan: DataFacts, trust: Trust) -> Iterator[SettingFinding]:
    if plan.registry_sku != "Premium" and private_endpoints(settings):
        problem = f"A {plan.registry_sku} registry has no private endpoint, which network.mode needs."
        setting = (*_HERE, "registry", "sku")
        yield error(
            setting, problem, "sku: Premium, or leave it out.", others=(("network", "mode"),), rule=PRIVATE_REGISTRY
        )
    if given.registry.only:
        yield from _only(settings, given, trust)
    for host, times in Counter(given.registry.upstreams).items():
        if host in NEED_LOGIN:
            problem = f"Images of {host} are cached with a login only, and this program gives the registry none."
            yield error(_UPSTREAMS, problem, "Remove it, or import these images.", rule=UPSTREAM_LOGIN)
        elif not is_upstream(host):
            problem = f"A registry of Azure does not cache {host}: it takes {', '.join(UPSTREAMS)}, *{UPSTREAM_SUFFIX}."
            fix = f"Remove it, and import its images: az acr import --source {host}/..."
            yield error(_UPSTREAMS, problem, fix, rule=UPSTREAM)
        if times > 1:
            yield error(_UPSTREAMS, f"{host} is listed {times} times.", "List it once.")


def _deletion(settings: Settings, given: DataServices) -> Iterator[SettingFinding]:
    words = deletion_words(settings)
    if given.deletion is not None and given.deletion != words:
        problem = "These words do not allow the data of this stack to be deleted."
        yield error((*_HERE, "deletion"), problem, f"Write '{words}', or remove it.", rule=DELETION)
