"""What is proposed for a new stack in any region, and the quota that it needs."""

from __future__ import annotations

from ipaddress import IPv4Network

import pytest
import yaml

from physical_ai.catalog import region, regions
from physical_ai.settings import STACKS, existing, load
from physical_ai.settings.facts.quota import QuotaNeed, quota_needs
from physical_ai.settings.new_stack import Choice, choose, new_files, propose, writing


def test_another_gpu_is_never_proposed() -> None:
    proposal = propose("dev-spaincentral")
    pool = proposal.pool("rtxprogpu")
    assert pool is not None
    assert pool.candidates
    assert choose(pool, "spaincentral", proposal.region_zones) == Choice(None)


ENVIRONMENTS = ("dev", "staging", "prod")


@pytest.mark.parametrize("turns", [1, pytest.param(len(ENVIRONMENTS), marks=pytest.mark.deep)])
def test_every_region_of_the_catalogue_can_have_a_stack_of_each_environment(turns: int) -> None:
    """All environments of each region in `make test-deep`; each region with one, in turn, in `make test`."""
    for place, name in enumerate(regions()):
        for turn in range(turns):
            environment = ENVIRONMENTS[(place + turn) % len(ENVIRONMENTS)]
            if f"{environment}-{name}" in existing():
                continue
            proposal = propose(f"{environment}-{name}")
            choices = {pool.name: choose(pool, name, proposal.region_zones) for pool in proposal.pools}
            ranges = [IPv4Network("20.30.40.0/28")]
            files = new_files(proposal, choices, proposal.address_space, ranges)
            loaded = writing.verified(f"{environment}-{name}", files)
            assert {warning.rule for warning in loaded.warnings} <= {
                "size-in-region-unconfirmed",
                "nat-one-zone",
                "managed-grafana",
            }


def test_region_layers_have_the_catalogues_local_time() -> None:
    for file in (STACKS / "layers/region").glob("*.yaml"):
        windows = yaml.safe_load(file.read_text())["cluster"]["upgrades"]
        assert {each["utcOffset"] for each in windows.values()} == {region(file.stem).utc_offset}


def test_quota_counts_spot_apart_and_surge_in() -> None:
    needs = {need.usage: need for need in quota_needs(load("staging-westus2").settings)}
    # system: 2 nodes and 1 surged of 4 vCPU; cpu: up to 4 and 1 of 8; h100gpu: up to 2 of 40, no surge.
    assert needs["cores"] == QuotaNeed("cores", 2 * 4 + 8, 3 * 4 + 5 * 8 + 80, ("system", "cpu", "h100gpu"))
    assert needs["StandardNCadsH100v5Family"].maximum == 80
    assert needs["lowPriorityCores"] == QuotaNeed("lowPriorityCores", 0, 288, ("rtxprogpu",))
    assert "StandardNCdsRTXPRO6000BSEv6XLFamily" not in needs
