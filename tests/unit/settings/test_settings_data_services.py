"""Settings of the data services: what they lead to by environment and region, and which cannot work."""

from __future__ import annotations

from typing import Any

import pytest

from physical_ai.catalog import regions
from physical_ai.settings import Fault, Overlay, Settings, SettingsError, load
from physical_ai.settings.facts.data_services import DataFacts, DataNames, data_facts
from physical_ai.settings.rules.check import TRUST_ALL
from physical_ai.settings.rules.data_services import check_data_services
from tests.support.cases import in_one_test

SUBSCRIPTION = "11111111-2222-3333-4444-555555555555"
AZURE = "dataServices.source=azure"


def given(stack: str, *changes: str) -> Settings:
    return load(stack, [Overlay.assign([AZURE, *changes])]).settings


def plan(stack: str, *changes: str) -> DataFacts:
    settings = given(stack, *changes)
    assert settings.data_services is not None
    return data_facts(settings, settings.data_services)


def faults(stack: str, *changes: str) -> list[Fault]:
    with pytest.raises(SettingsError) as refused:
        given(stack, *changes)
    return list(refused.value.faults)


def test_only_a_stack_with_a_control_plane_has_data_services(stack_name: str) -> None:
    settings = load(stack_name).settings
    assert (settings.data_services is not None) == settings.osmo.installs_service


def test_development_costs_little_and_production_survives_the_loss_of_a_zone() -> None:
    dev, prod = plan("dev-westus2"), plan("prod-westus2")
    assert (dev.high_availability, dev.geo_backup, dev.backup_days, dev.redundancy) == ("none", False, 7, "LRS")
    assert (prod.high_availability, prod.geo_backup, prod.backup_days) == ("sameZone", True, 35)
    sweden = plan("prod-swedencentral")
    assert (sweden.high_availability, sweden.geo_backup, sweden.postgres_size) == (
        "zoneRedundant",
        True,
        "Standard_D2ds_v5",
    )
    assert (prod.postgres_size, prod.postgres_tier) == ("Standard_D2ds_v4", "GeneralPurpose")
    assert (prod.redundancy, prod.registry_sku, prod.zone_redundant_registry) == ("ZRS", "Premium", True)
    assert (dev.purge_protection, dev.vault_retention_days) == (False, 7)
    assert (prod.purge_protection, prod.vault_retention_days) == (True, 90)
    assert (dev.redis_high_availability, prod.redis_high_availability) == (False, True)


def test_a_setting_wins_over_what_the_environment_suggests() -> None:
    off = plan("prod-westus2", "dataServices.redis.highAvailability=false", "dataServices.vault.purgeProtection=false")
    assert (off.redis_high_availability, off.purge_protection) == (False, False)


def test_data_of_production_is_kept_until_the_words_are_said() -> None:
    assert plan("prod-westus2", "protect=false").protected
    assert not plan("prod-westus2", "protect=false", "dataServices.deletion=delete the data of prod-westus2").protected
    assert not plan("dev-westus2").protected
    assert plan("dev-westus2", "protect=true", "dataServices.deletion=delete the data of dev-westus2").protected


def test_names_fit_and_differ_by_stack_and_subscription() -> None:
    stacks = ("dev-westus2", "prod-southeastasia", "a-quite-long-environment-of-somebody-southeastasia")
    for stack in stacks:
        names = DataNames(stack, SUBSCRIPTION)
        assert 3 <= len(names.storage) <= 24 >= len(names.vault("0a1b2c3d"))
        assert names.storage.isalnum()
        assert names.registry.isalnum()
        assert len(names.registry) <= 50
        assert len(names.postgres) <= 63
        assert len(names.redis) <= 60
        assert "--" not in names.vault("0a1b2c3d")
    assert len({DataNames(stack, SUBSCRIPTION).storage for stack in stacks}) == len(stacks)
    assert DataNames("dev-westus2", SUBSCRIPTION).storage != DataNames("dev-westus2", SUBSCRIPTION[::-1]).storage


@in_one_test(
    ("stack", "change", "place", "part"),
    [
        (
            "prod-westus2",
            "dataServices.postgres.size=Standard_B2s",
            "dataServices.postgres.size",
            "has no standby",
        ),
        (
            "dev-southeastasia",
            "dataServices.postgres.size=Standard_D3ds_v4",
            "dataServices.postgres.size",
            "no size Standard_D3ds_v4",
        ),
        ("dev-westus2", "dataServices.deletion=yes", "dataServices.deletion", "do not allow"),
        (
            "dev-westus2",
            "dataServices.registry.upstreams=[docker.io]",
            "dataServices.registry.upstreams",
            "with a login only",
        ),
        (
            "dev-westus2",
            "dataServices.registry.upstreams=[nvcr.io, europe-docker.pkg.dev, docker.elastic.co]",
            "dataServices.registry.upstreams",
            "does not cache docker.elastic.co",
        ),
        (
            "dev-westus2",
            "dataServices.registry.upstreams=[nvcr.io, nvcr.io]",
            "dataServices.registry.upstreams",
            "2 times",
        ),
        ("dev-westus2", "dataServices.postgres.storageGb=100", "dataServices.postgres.storageGb", "100"),
        ("dev-westus2", "dataServices.redis.size=C1", "dataServices.redis.size", "Azure Managed Redis"),
        ("dev-westus2", "dataServices.vault.retentionDays=5", "dataServices.vault.retentionDays", "too small"),
    ],
)
def test_what_cannot_work_is_reported_at_its_setting(stack: str, change: str, place: str, part: str) -> None:
    (fault,) = faults(stack, change)
    assert fault.where == place
    assert part in fault.problem


def test_images_that_no_pod_could_pull_are_named() -> None:
    """Pods pull from the registry only, and it does not cache the registry of one of them."""

    def found(*changes: str) -> list[Any]:
        loaded = load("dev-westus2", [Overlay.assign([AZURE, "dataServices.registry.only=true", *changes])])
        return [each for each in loaded.warnings if each.rule == "registry-only"]

    (agents,) = found()
    assert agents.where == "dataServices.registry.only"
    assert "docker.io/library/ubuntu" in agents.problem
    assert "upstreams" not in (agents.fix or "")  # Docker Hub is cached with a login only
    assert found("gridDriver.imageRegistry=quay.io/mirror") == []
    (own,) = found("gridDriver.imageRegistry=public.ecr.aws/docker")
    assert "Add public.ecr.aws to registry.upstreams" in (own.fix or "")
    (other,) = found("gridDriver.imageRegistry=example.azurecr.io")
    assert "upstreams" not in (other.fix or "")  # a host that no registry of Azure caches
    assert found("dataServices.registry.imported=[docker.io/library/ubuntu:22.04]") == []


def test_a_stack_whose_charts_have_an_image_that_no_pod_could_pull_is_refused() -> None:
    (fault,) = faults("prod-westeurope", "dataServices.registry.imported=[]")
    assert (fault.where, fault.rule) == ("physical-ai:dataServices.registry.only", "registry-only")
    envoy = "docker.io/envoyproxy/envoy:v1.38.1"
    assert envoy in fault.problem
    assert f"az acr import --name REGISTRY --source {envoy} --image {envoy}" in (fault.fix or "")
    metrics = "monitoring={metrics: kube-prometheus, receivers: {}}"
    (grafana,) = faults("prod-westeurope", metrics)
    assert "docker.io/grafana/grafana" in grafana.problem
    upstreams = "dataServices.registry.upstreams=[nvcr.io, ghcr.io, quay.io, public.ecr.aws, mcr.microsoft.com]"
    assert {"registry.k8s.io" in each.problem for each in faults("prod-westeurope", upstreams)} == {True}


def test_images_are_replaced_from_the_release_of_kubernetes_that_can_do_it() -> None:
    version = "cluster.kubernetesVersion='1.35'"
    (fault,) = faults("dev-westus2", "dataServices.registry.only=true", version, "gridDriver.imageRegistry=quay.io/a")
    assert (fault.where, fault.rule) == ("dataServices.registry.only", "registry-only")


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ("dataServices.postgres.highAvailability=zoneRedundant", "dataServices.postgres.highAvailability"),
        ("dataServices.storage.redundancy=GZRS", "dataServices.storage.redundancy"),
    ],
)
def test_a_region_without_zones_has_no_copies_in_several(change: str, place: str) -> None:
    settings = given("prod-swedencentral", change)
    assert list(check_data_services(settings, TRUST_ALL)) == []
    (found,) = check_data_services(settings.model_copy(update={"region": "westus"}), TRUST_ALL)
    assert (found.where, found.rule) == (place, "data-zones")


@pytest.mark.parametrize(("field", "place"), [("postgres", "postgres"), ("managed_redis", "redis")])
@pytest.mark.parametrize(("offered", "severity"), [("no", "error"), ("unknown", "warning")])
def test_a_region_without_a_service(
    field: str, place: str, offered: Any, severity: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = given("dev-westus2")
    changed = {**regions(), "westus2": regions()["westus2"].model_copy(update={field: offered})}
    monkeypatch.setattr("physical_ai.settings.rules.data_services.regions", lambda: changed)
    (found,) = check_data_services(settings, TRUST_ALL)
    assert (found.where, found.severity.value, found.rule) == (f"dataServices.{place}", severity, "data-region")


@pytest.mark.parametrize(
    ("stack", "change", "place", "part"),
    [
        ("prod-westeurope", "postgres.highAvailability=zoneRedundant", "postgres.highAvailability", "sameZone"),
        ("prod-southeastasia", "postgres.size=Standard_D4ds_v5", "postgres.size", "Standard_D2ds_v4"),
    ],
)
def test_what_a_region_offers_no_new_server_is_a_warning_as_an_old_one_may_have_it(
    stack: str, change: str, place: str, part: str
) -> None:
    loaded = load(stack, [Overlay.assign([AZURE, f"dataServices.{change}"])])
    (found,) = [each for each in loaded.warnings if each.rule == "postgres-region"]
    assert found.where == f"dataServices.{place}"
    assert part in (found.fix or "")


def test_private_endpoints_need_a_premium_registry() -> None:
    settings = given("dev-westus2", "dataServices.registry.sku=Standard")
    hybrid = settings.network.model_copy(update={"mode": "hybrid"})
    (found,) = check_data_services(settings.model_copy(update={"azure_network": hybrid}), TRUST_ALL)
    assert found.where == "dataServices.registry.sku"
