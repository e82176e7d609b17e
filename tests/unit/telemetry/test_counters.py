"""The CSV of the DCGM exporter holds only names that its exporter knows."""

from __future__ import annotations

import pytest

from physical_ai.catalog import operator_releases
from physical_ai.catalog.lookup import UnknownName
from physical_ai.catalog.telemetry_rows import dcgm_fields, xids, xids_of
from physical_ai.telemetry.counters import csv_for, digest, exporter_of, fields_for, read_csv, series_per_node
from physical_ai.telemetry.parameters import PoolFacts

H100 = PoolFacts("h100", "aks-h100-.+", {"nvidia.com/gpu": 2}, 2, 4, True, False, False)
RTX = PoolFacts("rtx", "aks-rtx-.+", {"nvidia.com/gpu": 2}, 2, 4, True, True, True)


@pytest.mark.parametrize("release", sorted(operator_releases()))
def test_every_release_gets_names_that_its_exporter_knows(release: str) -> None:
    names = read_csv(csv_for(release), exporter_of(release))
    assert "DCGM_EXP_XID_ERRORS_COUNT" in names
    assert "DCGM_FI_DEV_ROW_REMAP_PENDING" in names


def test_a_field_is_left_out_where_the_exporter_would_exit() -> None:
    throttle, recovery = "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", "DCGM_FI_DEV_GET_GPU_RECOVERY_ACTION"
    assert throttle not in csv_for("v26.3.0")
    assert recovery in csv_for("v26.3.0")
    assert throttle in csv_for("v25.10.1")
    assert recovery not in csv_for("v25.10.1")
    with pytest.raises(ValueError, match=throttle):
        read_csv(csv_for("v26.7.0"), exporter_of("v26.3.0"))  # as NVIDIA AICR's file would


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (
            "DCGM_FI_DEV_SM_UTIL, gauge, In Azure's table but not in DCGM",
            "could not find DCGM field DCGM_FI_DEV_SM_UTIL",
        ),
        ("DCGM_FI_DEV_GPU_TEMP, gauge, Text, with a comma", "4 columns"),
        ("DCGM_FI_DEV_GPU_TEMP, number, Text", "metric type number"),
        ("DCGM_FI_DEV_GPU_TEMP, gauge, Text\nDCGM_FI_DEV_GPU_TEMP, gauge, Text", "duplicate"),
    ],
)
def test_a_bad_line_is_refused_as_by_the_exporter(line: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        read_csv(line, "4.6.0-4.8.3")


def test_a_field_can_be_added_by_its_name_only() -> None:
    added = [field.name for field in fields_for("4.6.0-4.8.3", ["DCGM_FI_PROF_SM_OCCUPANCY"])]
    assert "DCGM_FI_PROF_SM_OCCUPANCY" in added
    with pytest.raises(UnknownName) as unknown:
        fields_for("4.6.0-4.8.3", ["DCGM_FI_PROF_SM_OCCUPANCI"])
    assert unknown.value.suggestion == "DCGM_FI_PROF_SM_OCCUPANCY"
    with pytest.raises(UnknownName, match="of DCGM exporter"):
        fields_for("4.5.1-4.8.0", ["DCGM_FI_DEV_CLOCK_THROTTLE_REASONS"])


def test_the_digest_changes_with_the_csv() -> None:
    assert digest(csv_for("v26.7.0")) == digest(csv_for("v26.7.1")) != digest(csv_for("v25.10.1"))


def test_series_of_a_node() -> None:
    fields = fields_for("4.6.0-4.8.3")
    whole = series_per_node(H100, fields)
    assert whole.least == whole.most == 2 * (len(fields) - 1 + 8)  # a label, and nine health watches
    virtual = series_per_node(RTX, fields)
    assert virtual.least == 2 * sum(1 for f in fields if f.vgpu == "yes" and f.type != "label")
    assert virtual.least < virtual.most < whole.most
    cut = PoolFacts("h100", "x", {"nvidia.com/gpu": 14}, 2, 4, True, False, False, instances=14)
    of_instances = sum(1 for field in fields if field.each == "instance")
    assert series_per_node(cut, fields).most == whole.most + of_instances * 12


def test_only_known_fields_are_in_the_catalogue_with_a_comma_free_help() -> None:
    assert all("," not in field.help for field in dcgm_fields().values())


def test_xids_have_nvidias_classes() -> None:
    assert {48, 64, 79, 95, 119, 120} <= set(xids_of("node"))
    assert {8, 13, 31, 43, 45, 94} <= set(xids_of("job"))
    assert {38, 63, 92} <= set(xids_of("information"))
    assert all(
        xid.action.startswith(("RESET", "RESTART", "WORKFLOW", "UPDATE"))
        for xid in xids().values()
        if xid.xid_class == "node"
    )
