"""The stack of the short way to a workflow: nothing that somebody would have to order first, and never production."""

from __future__ import annotations

import pytest

from physical_ai.catalog import vm_size, vm_sizes
from physical_ai.safe_yaml import load as read_yaml
from physical_ai.settings import Overlay, SettingsError, load
from physical_ai.settings.facts.data_services import managed
from physical_ai.settings.facts.quota import quota_needs
from physical_ai.settings.facts.required_secrets import required_secrets
from physical_ai.settings.layers.names import STACKS
from physical_ai.settings.new_stack import choose, new_files, propose, writing

STACK = "quickstart-westus2"
LAYER = STACKS / "layers" / "env" / "quickstart.yaml"


def test_it_needs_no_application_name_database_or_secret() -> None:
    loaded = load(STACK)
    settings = loaded.settings
    access = settings.osmo.access
    assert settings.osmo.installs_service
    assert (access.login, access.scope, access.host, access.tls, access.entra) == ("dev", "internal", None, None, None)
    assert managed(settings) is None
    assert settings.data_services is not None
    assert required_secrets(settings) == []


def test_nothing_in_it_is_a_placeholder() -> None:
    """Who deploys is the one thing to name, for which no file of the repository has a value."""
    loaded = load(STACK)
    assert [each for each in loaded.warnings if each.stand_in] == []
    assert {each.where for each in loaded.warnings} == {"osmo.login", "osmo.access.login"}
    assert loaded.settings.access.deployers == ()


def test_no_gpu_node_is_asked_of_azure_and_no_quota_of_a_gpu_family() -> None:
    settings = load(STACK).settings
    for pool in settings.pools.values():
        assert pool.is_spot
        assert (pool.scale.min, pool.scale.max, pool.scale.initial) == (0, 1, None)
        assert vm_size(pool.sku).gpu is not None
    gpu_families = {size.family for size in vm_sizes().values() if size.gpu is not None}
    needs = {need.usage: need.initial for need in quota_needs(settings)}
    assert needs.keys() & gpu_families == set()
    assert needs["lowPriorityCores"] == 0


def test_another_region_can_have_one() -> None:
    name = "quickstart-spaincentral"
    proposal = propose(name)
    choices = {pool.name: choose(pool, "spaincentral", proposal.region_zones) for pool in proposal.pools}
    loaded = writing.verified(name, new_files(proposal, choices, proposal.address_space))
    assert list(loaded.settings.pools) == ["h100gpu"]  # the region lists no size with the other GPU
    assert {each.where for each in loaded.warnings} == {"osmo.login", "osmo.access.login"}


def test_its_layer_over_a_production_stack_is_refused() -> None:
    layer = read_yaml(LAYER.read_text(encoding="utf-8"))
    with pytest.raises(SettingsError) as caught:
        load("prod-westus2", [Overlay("test", layer)])
    assert {fault.where for fault in caught.value.faults} >= {
        "dataServices.inCluster.acceptOnePod",
        "osmo.access.login",
        "osmo.login",
    }
