"""The CSV of the DCGM exporter holds only names that its exporter knows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from physical_ai.catalog import operator_releases
from physical_ai.catalog.lookup import UnknownName
from physical_ai.catalog.telemetry_rows import dcgm_exporters, dcgm_fields, xids, xids_of
from physical_ai.telemetry.counters import (
    Cardinality,
    csv_for,
    digest,
    exporter_of,
    fields_for,
    series_per_node,
)
from physical_ai.telemetry.parameters import PoolFacts
from simulator.gpu.counters import counters, csv_fault

H100 = PoolFacts("h100", {"nvidia.com/gpu": 2}, 2, 4, True, False, False)
RTX = PoolFacts("rtx", {"nvidia.com/gpu": 2}, 2, 4, True, True, True)


@pytest.mark.parametrize("release", sorted(operator_releases()))
def test_every_release_gets_names_that_its_exporter_knows(release: str) -> None:
    assert csv_fault(csv_for(release), exporter_of(release)) == ""
    names = [each.name for each in counters(csv_for(release))]
    assert len(set(names)) == len(names)
    assert "DCGM_EXP_XID_ERRORS_COUNT" in names
    assert "DCGM_FI_DEV_ROW_REMAP_PENDING" in names


def test_a_field_is_left_out_where_the_exporter_would_exit() -> None:
    throttle, recovery = "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", "DCGM_FI_DEV_GET_GPU_RECOVERY_ACTION"
    assert throttle not in csv_for("v26.3.0")
    assert recovery in csv_for("v26.3.0")
    assert throttle in csv_for("v25.10.1")
    assert recovery not in csv_for("v25.10.1")
    # As NVIDIA AICR's file would.
    assert throttle in csv_fault(csv_for("v26.7.0"), exporter_of("v26.3.0"))


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("DCGM_FI_DEV_SM_UTIL, gauge, In Azure's table but not in DCGM", "could not find DCGM field"),
        ("DCGM_FI_DEV_GPU_TEMP, gauge, Text, with a comma", "4 columns"),
        ("DCGM_FI_DEV_GPU_TEMP, number, Text", "could not find Prometheus metric type number"),
    ],
)
def test_a_bad_line_is_refused_as_by_the_exporter(line: str, reason: str) -> None:
    assert reason in csv_fault(line, "4.6.0-4.8.3")


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


NEW, OLD, OLDEST = "4.6.0-4.8.3", "4.4.2-4.7.0", "4.3.1-4.4.0"


def counted(pool: PoolFacts, exporter: str = NEW) -> Cardinality:
    return series_per_node(pool, fields_for(exporter), exporter)


def test_series_of_a_gpu() -> None:
    fields = [field for field in fields_for(NEW) if field.type != "label"]
    whole = counted(H100)
    assert whole.least == whole.most == 2 * (len(fields) - 1 + 11)  # eleven health watches instead of one series
    assert (whole.unit, whole.units, whole.most_each) == ("GPU", 2, whole.most // 2)
    assert counted(H100, OLD).most == 2 * (len(fields_for(OLD)) - 1 - 1 + 10)
    virtual = counted(RTX)
    assert virtual.least == 2 * sum(1 for field in fields if field.vgpu == "yes")
    assert virtual.least < virtual.most < whole.most


def test_series_of_a_mig_instance() -> None:
    """The exporter monitors the instances instead of their GPU; the GPU's health remains."""
    found = counted(replace(H100, instances=14))
    of_instance = sum(1 for field in fields_for(NEW) if field.type != "label" and field.mig == "instance")
    assert (found.unit, found.units, found.most_each) == ("MIG instance", 14, of_instance)
    assert found.most == 14 * of_instance + 2 * 11


def test_series_of_a_share() -> None:
    """Each Pod that shares a GPU has series of its own, unless a GPU without Pods could have none then."""
    found = counted(replace(H100, shares=4))
    assert (found.unit, found.units, found.most) == ("share", 8, 4 * counted(H100).most)
    for exporter in (OLD, OLDEST):
        assert counted(replace(H100, shares=4), exporter) == counted(H100, exporter)


@pytest.mark.parametrize("release", sorted(operator_releases()))
def test_the_behaviour_of_every_exporter_is_known(release: str) -> None:
    assert "MEM" in dcgm_exporters()[exporter_of(release)].watches


def test_only_known_fields_are_in_the_catalogue_with_a_comma_free_help() -> None:
    assert all("," not in field.help for field in dcgm_fields().values())


def test_xids_have_nvidias_classes() -> None:
    assert {48, 64, 79, 95, 119, 120} <= set(xids_of("node"))
    assert {8, 13, 31, 32, 43, 45, 94, 126} <= set(xids_of("job"))
    assert {38, 63, 92} <= set(xids_of("information"))
    actions = {kind: {xids()[code].action for code in xids_of(kind)} for kind in ("node", "job", "information")}
    assert not actions["node"] & actions["job"]
    assert actions["information"] == {"IGNORE", "WORKFLOW_NVLINK5_ERR", "NONE"}
    assert all(
        xid.action.startswith(("RESET", "RESTART", "WORKFLOW", "UPDATE", "CHECK")) or xid.companion
        for xid in xids().values()
        if xid.xid_class == "node"
    )


def test_every_code_of_nvidias_sheet_has_a_class_and_an_action() -> None:
    """Codes of the sheet of 2025-10-29 by NVIDIA's action, those among them that differ from their neighbours."""
    assert set(xids()) == set(range(1, 173))
    job = {8, 11, 13, 25, 31, 32, *range(39, 42), 60, 68, 69, 70, 71, 72, 75, 76, 77, 80, *range(82, 87), 88, 89, 94}
    job |= {*range(96, 106), *range(126, 136), 139}
    assert {code for code, xid in xids().items() if xid.action == "RESTART_APP"} == job
    reset = {46, 62, 64, 95, 109, 110, 119, 120, 136, 140, 143, 155, 156, 158}
    assert {code for code, xid in xids().items() if xid.action == "RESET_GPU"} == reset
    assert reset | {48, 54, 74, 78, 79, 149, 150, 151, 171, 172} == set(xids_of("node"))
    assert {142, 144, 145, 146, 154, 159, 166, 167, 168, 169, 170} <= set(xids_of("unclear"))
    assert {56, 57, 58, 61, 65, 73, 81, 90} <= set(xids_of("unclear"))
    assert {147, 148} <= set(xids_of("information"))
