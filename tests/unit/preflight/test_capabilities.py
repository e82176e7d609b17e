"""Capabilities of VM sizes, as the subscription's SKU list has them, against pools and the catalogue."""

from __future__ import annotations

from typing import Any

import pytest

from physical_ai.settings import Pool
from physical_ai.subscription.capabilities import capability_findings, local_disks

H100 = "Standard_NC40ads_H100_v5"
A100 = "Standard_NC24ads_A100_v4"
ANSWER = {
    "EphemeralOSDiskSupported": "True",
    "SupportedEphemeralOSDiskPlacements": "ResourceDisk,CacheDisk",
    "MaxResourceVolumeMB": "65536",
    "CachedDiskBytes": "274877906944",
    "NvmeDiskSizeInMiB": "915527",
    "HyperVGenerations": "V2",
    "PremiumIO": "True",
    "AcceleratedNetworkingEnabled": "True",
}
"""Of NC24ads A100 v4, in South Central US (Azure/karpenter-provider-azure 352646f, zz_generated.sku, 2025-06-03)."""


def judged(sku: str, gib: int | None, answer: dict[str, str], **settings: Any) -> list[tuple[str, str]]:
    values = {"osDisk": {"type": "Ephemeral" if gib else "Managed", "sizeGb": gib}, **settings}
    pool = Pool.model_validate({"sku": sku, "driver": {"source": "operator"}, "scale": {"count": 1}, **values})
    return [(each.severity.value, each.problem) for each in capability_findings("gpu", pool, answer)]


@pytest.mark.parametrize(("gib", "refused"), [(128, False), (256, False), (257, True)])
def test_an_ephemeral_os_disk_fits_the_cache_where_the_temp_disk_is_smaller(gib: int, refused: bool) -> None:
    assert [severity for severity, _ in judged(A100, gib, ANSWER)] == ["error"] * refused


def test_no_os_disk_is_placed_on_nvme_that_azure_does_not_name_as_a_placement() -> None:
    answer = {**ANSWER, "MaxResourceVolumeMB": "131072", "CachedDiskBytes": "0", "NvmeDiskSizeInMiB": "3661824"}
    (problem, *_) = judged(H100, 512, answer)
    assert problem[0] == "error"
    assert "128 GiB temp disk, 3576 GiB NVMe; no OS disk is placed on its NVMe" in problem[1]


def test_what_azure_does_not_list_the_size_does_not_have() -> None:
    found = local_disks({"EphemeralOSDiskSupported": "True", "MaxResourceVolumeMB": "153600"})
    assert found is not None
    assert (found.temp, found.cache, found.nvme, found.placements) == (150, 0, 0, ("ResourceDisk",))
    assert local_disks({"vCPUs": "4"}) is None
    refused = judged(A100, 64, {**ANSWER, "EphemeralOSDiskSupported": "False"})
    assert refused[0] == ("error", f"{A100} has no local disk for an ephemeral OS disk.")


def test_a_size_of_version_6_holds_the_os_disk_on_its_nvme() -> None:
    answer = {
        "EphemeralOSDiskSupported": "True",
        "SupportedEphemeralOSDiskPlacements": "NvmeDisk",
        "MaxResourceVolumeMB": "0",
        "NvmeDiskSizeInMiB": "1048576",
        "DiskControllerTypes": "NVMe",
    }
    rtx = "Standard_NC144ds_xl_RTXPRO6000BSE_v6"
    assert {severity for severity, _ in judged(rtx, 1024, answer, driver={"source": "grid"})} == {"warning", "info"}
    wrong = judged(rtx, None, {**answer, "DiskControllerTypes": "SCSI"}, driver={"source": "grid"})
    assert ("warning", f"{rtx} has a SCSI controller, on which no OS disk is placed on NVMe.") in wrong


@pytest.mark.parametrize(
    ("change", "severity", "part"),
    [
        ({"CachedDiskBytes": "0"}, "warning", "Azure reports"),
        ({"TrustedLaunchDisabled": "True"}, "error", "no Trusted Launch"),
        ({"HyperVGenerations": "V1"}, "error", "no Trusted Launch"),
        ({"AcceleratedNetworkingEnabled": "False"}, "warning", "accelerated networking"),
        ({"PremiumIO": "False"}, "warning", "Premium SSD"),
    ],
)
def test_each_capability_that_a_pool_needs_is_read(change: dict[str, str], severity: str, part: str) -> None:
    assert judged(A100, None, ANSWER, secureBoot=True) == []
    ((found, problem),) = judged(A100, None, {**ANSWER, **change}, secureBoot=True)
    assert found == severity
    assert part in problem
