"""Rows of the GPU stack in the catalogue: releases, drivers, node images and MIG profiles."""

from __future__ import annotations

import datetime

import pytest

from physical_ai.catalog import (
    UnknownName,
    driver_build,
    mig_models,
    newest_release,
    node_image,
    vm_sizes,
)
from physical_ai.catalog.gpu_load import (
    chart_key_groups,
    chart_key_notes,
    driver_branches,
    node_images,
    operator_releases,
    runtime_traits,
)
from physical_ai.catalog.gpu_lookup import builds


def test_grid_builds_carry_the_checksum_where_one_is_known() -> None:
    assert driver_build("grid", "580.105.08").sha256.startswith("b360c7ed")
    assert driver_build("grid", "595.58.03").sha256 == ""
    for build in builds("grid").values():
        assert bool(build.sha256) == bool(build.sha256_source)
    with pytest.raises(UnknownName) as caught:
        driver_build("grid", "580.173.02")
    assert caught.value.suggestion == "580.105.08"


def test_the_node_image_follows_from_os_and_kubernetes() -> None:
    assert node_image("Ubuntu", "1.34").release == "22.04"
    assert node_image("Ubuntu", "1.36.3").release == "24.04"
    assert node_image("Ubuntu2204", "1.36").release == "22.04"
    assert not node_image("AzureLinux", "1.36").driver_images


def test_every_row_of_the_gpu_stack_names_its_source_and_a_date_that_has_passed() -> None:
    rows = [
        *operator_releases().values(),
        *driver_branches().values(),
        *node_images().values(),
        *runtime_traits(),
        *mig_models().values(),
        *chart_key_groups(),
        *chart_key_notes(),
    ]
    assert len(rows) > 50
    for row in rows:
        assert row.source
        assert datetime.date(2025, 1, 1) <= row.date <= datetime.datetime.now(datetime.UTC).date()


def test_every_release_names_a_default_driver_that_is_in_the_catalogue() -> None:
    for release in operator_releases().values():
        assert set(release.drivers) <= set(builds("datacenter"))
    assert newest_release().version == "v26.7.1"


def test_every_size_with_mig_has_profiles() -> None:
    models = {size.gpu.model for size in vm_sizes().values() if size.mig and size.gpu}
    assert models <= set(mig_models())
