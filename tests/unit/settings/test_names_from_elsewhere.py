"""Keys and sizes that other tools and Azure have: what the message says instead of a name that is merely alike."""

from __future__ import annotations

import pytest

from physical_ai.catalog import UnknownName, vm_size
from physical_ai.catalog.load import vm_sizes
from physical_ai.catalog.other_sizes import OTHER_GPUS, gpu_of, why_not
from physical_ai.catalog.verdicts import judge
from physical_ai.settings.layers import elsewhere
from physical_ai.settings.layers.merge import unknown_key
from physical_ai.settings.layers.shape import shape_at
from tests.support.cases import in_one_test

POOL = ("pools", "h100gpu")


@in_one_test(
    "key",
    [
        "capacityReservationGroup",
        "capacity_reservation_group_id",
        "kubeletConfig",
        "topologyManagerPolicy",
        "cpuManagerPolicy",
        "linuxOSConfig",
        "sysctls",
        "scaleDownMode",
        "evictionPolicy",
        "tags",
        "proximityPlacementGroup",
        "gpuInstanceProfile",
        "managedGPU",
        "enableNodePublicIP",
        "fips",
    ],
)
def test_a_key_of_other_tools_gets_a_sentence_and_no_guess(key: str) -> None:
    problem, fix = unknown_key((*POOL, key))
    assert problem == f"'{key}' is not a setting of a pool."
    assert fix is not None
    assert fix.endswith(".")
    assert "Did you mean" not in fix


@pytest.mark.parametrize(("key", "near"), [("taint", "taints"), ("lables", "labels"), ("shareing", "sharing")])
def test_a_misspelt_key_is_still_corrected(key: str, near: str) -> None:
    assert unknown_key((*POOL, key)) == (f"'{key}' is not a setting.", f"Did you mean '{near}'?")


@pytest.mark.parametrize("key", ["tugs", "runtime"])
def test_a_key_that_is_merely_alike_gets_the_known_ones(key: str) -> None:
    assert (unknown_key((*POOL, key))[1] or "").startswith("Known here: sku, scale")


def test_a_name_of_other_tools_below_a_key_of_a_pool_gets_what_is_known_there() -> None:
    assert unknown_key((*POOL, "scale", "minCount"))[1] == "Write min."
    assert unknown_key((*POOL, "osDisk", "osDiskSizeGB"))[1] == "Write sizeGb."
    assert unknown_key((*POOL, "scale", "zone"))[1] == "Known here: count, min, max, initial."


def test_advice_about_keys_is_accepted_in_turn() -> None:
    shape = shape_at(POOL)
    assert shape is not None
    names = [name for each in elsewhere.KEYS for name in each.names]
    assert len(names) == len(set(names))
    for each in elsewhere.KEYS:
        assert each.instead is None or (each.instead in shape.fields and each.instead in each.advice)
    # No setting is taken for a key of other tools.
    assert [field for field in shape.fields if elsewhere.advice((*POOL, field)) is not None] == []


@pytest.mark.parametrize(
    "size",
    [
        "Standard_NC4as_T4_v3",
        "Standard_NC64as_T4_v3",
        "Standard_ND96asr_v4",
        "Standard_ND96amsr_A100_v4",
        "Standard_ND128isr_NDR_GB200_v6",
        "Standard_ND128isr_GB300_v6",
        "Standard_NC6s_v3",
    ],
)
def test_a_size_with_another_gpu_is_said_not_to_be_supported(size: str) -> None:
    with pytest.raises(UnknownName) as caught:
        vm_size(size)
    assert caught.value.suggestion is None
    (finding,) = judge(size, "westus2", "operator")
    assert "not supported" in (finding.fix or "")
    assert "Did you mean" not in (finding.fix or "")


@pytest.mark.parametrize(
    ("size", "near"),
    [
        ("NC40ads_H100_v5", "Standard_NC40ads_H100_v5"),
        ("standard_nc40ads_h100_v5", "Standard_NC40ads_H100_v5"),
        ("Standard_NC128ds_xl_RTXPRO6000BSE_v5", "Standard_NC144ds_xl_RTXPRO6000BSE_v6"),
        ("Standard_ND96isr_H10_v5", "Standard_ND96isr_H100_v5"),
        ("Standard_ND96isr_B200_v6", None),
        ("Standard_ND96isr_MI325X_v5", None),
    ],
)
def test_a_suggested_size_has_the_same_gpu(size: str, near: str | None) -> None:
    with pytest.raises(UnknownName) as caught:
        vm_size(size)
    assert caught.value.suggestion == near


def test_no_size_of_the_catalogue_is_said_not_to_be_supported() -> None:
    assert [name for name in vm_sizes() if why_not(name) is not None or gpu_of(name) in OTHER_GPUS] == []
