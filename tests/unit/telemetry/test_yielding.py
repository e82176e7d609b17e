"""An alert yields only to alerts that are on: whatever is switched off, the next one that sees a fault tells of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from physical_ai.catalog.dcgm_health import dcgm_health
from physical_ai.settings import load
from physical_ai.settings.facts.telemetry import rule_parameters
from physical_ai.telemetry.parameters import Override, Parameters, PoolFacts
from physical_ai.telemetry.rule_rows import alert_rows, themes
from physical_ai.telemetry.rules import alerts
from tests.support.alert_series import H100, ND, RTX, dcgm, of, port
from tests.support.rule_tests import Fired, Scene, failures, rule_tests

INTERVAL, MINUTES = 4, 64
STEPS = MINUTES // INTERVAL


@cache
def dev() -> Parameters:
    return rule_parameters(load("dev-westus2").settings)


def without(*names: str, **thresholds: float) -> Parameters:
    given = {name: Override(enabled=False) for name in names}
    return replace(dev(), overrides=given | {name: Override(value) for name, value in thresholds.items()})


def run(value: float) -> str:
    return f"{value:g}x{STEPS}"


POOLS = {
    of("kube_node_labels", node, label_agentpool=pool): run(1) for node, pool in ((H100, "h100gpu"), (RTX, "rtxprogpu"))
}
NODES = {
    **POOLS,
    **{of("kube_node_info", node): run(1) for node in (H100, RTX)},
    **{of("kube_node_status_allocatable", node, resource="nvidia_com_gpu"): run(1) for node in (H100, RTX)},
    **{dcgm("DCGM_FI_DEV_FB_USED", node): run(100) for node in (H100, RTX)},
    of("grid_driver_ready", RTX): run(1),
}
ECC = {dcgm("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL"): run(2)}
REMAP = {dcgm("DCGM_FI_DEV_ROW_REMAP_FAILURE"): run(1)}
RECOVERY = {dcgm("DCGM_FI_DEV_GET_GPU_RECOVERY_ACTION"): run(1)}
XID = {dcgm("DCGM_EXP_XID_ERRORS_COUNT", xid="79"): run(1)}
HEALTH = {dcgm("DCGM_EXP_GPU_HEALTH_STATUS", health_watch="ALL", health_error_code="DCGM_FR_UNKNOWN"): run(20)}
NARROW = {dcgm("DCGM_FI_DEV_PCIE_LINK_WIDTH"): run(8), dcgm("DCGM_FI_DEV_PCIE_MAX_LINK_WIDTH"): run(16)}
HOT = {dcgm("DCGM_FI_DEV_MEMORY_TEMP"): run(99), dcgm("DCGM_FI_DEV_GPU_TEMP"): run(90)}
NO_DRIVER = {of("gpu_operator_node_driver_ready", H100): run(0), of("gpu_operator_node_toolkit_ready", H100): run(0)}
EMPTY = {of("kube_node_status_allocatable", H100, resource="nvidia_com_gpu"): run(0)}
WITHHELD = {
    **EMPTY,
    of("kube_node_status_capacity", H100, resource="nvidia_com_gpu"): run(1),
    'kube_pod_container_status_ready{namespace="gpu-operator",pod="nvidia-device-plugin-a"}': run(1),
    f'kube_pod_info{{namespace="gpu-operator",pod="nvidia-device-plugin-a",node="{H100}"}}': run(1),
}
NOT_READY = {of("kube_node_status_condition", H100, condition="Ready", status="false"): run(1)}
LICENCE = {
    of("grid_driver_licensed", RTX): run(0),
    of("grid_driver_info", RTX, installed="595.91.07"): run(1),
    of("grid_driver_ready", RTX): run(0),
    dcgm("DCGM_FI_DEV_VGPU_LICENSE_STATUS", RTX): run(0),
}
SLOW = {dcgm("DCGM_EXP_GPU_HEALTH_STATUS", health_watch="PCIE", health_error_code="DCGM_FR_PCI_REPLAY_RATE"): run(10)}
BITS = {
    dcgm("DCGM_FI_DEV_ECC_SBE_VOL_TOTAL"): f"0+40x{STEPS}",
    dcgm("DCGM_EXP_XID_ERRORS_COUNT", xid="92"): run(1),
}

Row = tuple[str, Parameters, Mapping[str, str], Sequence[tuple[str, str]]]


def rows() -> list[Row]:
    """Alerts that are off or above their thresholds, what is wrong, and the alerts that tell of it."""
    dead = {**REMAP, **ECC, **XID, **RECOVERY, **HEALTH, **NARROW}
    order = (
        "GPURowRemapFailed",
        "GPUXidNodeFault",
        "GPUUncorrectableECC",
        "GPURecoveryActionRequired",
        "GPUHealthFailure",
    )
    found: list[Row] = [
        (
            f"a dead GPU, without {order[:off]}",
            without(*order[:off]),
            dead,
            [((*order, "GPUPcieLinkNarrow")[off], H100)],
        )
        for off in range(len(order) + 1)
    ]
    at_h100, at_rtx = (
        (lambda *names: [(name, H100) for name in names]),
        (lambda *names: [(name, RTX) for name in names]),
    )
    driver = {**NO_DRIVER, **EMPTY}
    gone = "GPUAllocatableBelowCapacity"
    found += [
        ("no driver", without(), driver, at_h100("GPUDriverNotReady")),
        ("no driver, unsaid", without("GPUDriverNotReady"), driver, at_h100("GPUNodeMissingGPUs")),
        ("withheld", without(), WITHHELD, at_h100(gone)),
        ("withheld, unsaid", without(gone), WITHHELD, at_h100("GPUNodeMissingGPUs")),
        ("withheld after ECC", without(), WITHHELD | ECC, at_h100("GPUUncorrectableECC")),
        ("withheld after ECC, unsaid", without("GPUUncorrectableECC"), WITHHELD | ECC, at_h100(gone)),
        ("not ready", without(), NOT_READY | EMPTY, at_h100("GPUNodeNotReady")),
        ("not ready, unsaid", without("GPUNodeNotReady"), NOT_READY | EMPTY, at_h100("GPUNodeMissingGPUs")),
        ("no licence", without(), LICENCE, at_rtx("GridLicenseMissing")),
        (
            "no licence, unsaid",
            without("GridLicenseMissing"),
            LICENCE,
            at_rtx("GridDriverNotReady", "GridLicenseMissingByDCGM"),
        ),
        ("hot", without(), HOT, at_h100("GPUTooHot")),
        ("hot, unsaid", without("GPUTooHot"), HOT, at_h100("GPUMemoryTooHot")),
        ("hot, below a raised threshold", without(GPUTooHot=95), HOT, at_h100("GPUMemoryTooHot")),
        ("corrected", without(), BITS, at_h100("GPUXidInformation")),
        ("corrected, unsaid", without("GPUXidInformation"), BITS, at_h100("GPUCorrectableECCRate")),
        ("replays that DCGM sees", without(), SLOW, []),
        ("replays that DCGM sees, unsaid", without("GPUPcieReplays"), SLOW, at_h100("GPUHealthWarning")),
    ]
    return found


FEW = 6
"""Rows of one chain, from the first alert about a dead GPU to the last."""


@pytest.mark.parametrize("few", [True, pytest.param(False, marks=pytest.mark.deep)])
def test_an_alert_that_is_off_silences_no_other(few: bool, tmp_path: Path) -> None:
    files = list[Path]()
    for number, (name, parameters, series, told) in enumerate(rows()[: FEW if few else None]):
        # The agents of OSMO are another matter.
        given = replace(parameters, osmo_namespace=None)
        scene = Scene(name, {**NODES, **series}, {MINUTES: [Fired(*each) for each in told]})
        files.append(rule_tests(given, [scene], tmp_path, f"{number}", interval=INTERVAL))
    found = failures(files)
    assert not found, found


@pytest.mark.parametrize("kind", ["gpu", "node"])
def test_each_sign_is_told_by_an_alert_or_by_nobody(kind: str) -> None:
    recorded = {each.record: each.expression for theme in themes() for each in theme.records}
    signs = set(re.findall(r'"sign", "([a-z-]+)"', recorded[f"physical_ai:{kind}_fault"]))
    told = re.findall(r'\{sign="([a-z-]+)"\} > \$told_(\w+)', recorded[f"physical_ai:{kind}_told"])
    assert {alert for _, alert in told} <= set(alert_rows())
    besides = {"gpu", "xid", "leaving"} if kind == "node" else set[str]()
    assert signs - besides == {sign for sign, _ in told}


def test_nothing_yields_to_a_fault_itself() -> None:
    for each in alerts(dev()):
        for clause in each.expression.split("unless")[1:]:
            assert not re.search(r"physical_ai:(gpu_fault|node_fault|gpu_xid)\b", clause), each.name


def test_warnings_are_left_to_alerts_that_there_are() -> None:
    assert {each.why for each in dcgm_health().codes if each.kind == "elsewhere"} <= set(alert_rows())


def counter(name: str, per_minute: float) -> dict[str, str]:
    return {port(f"node_infiniband_{name}_total"): f"0+{per_minute * INTERVAL:g}x{STEPS}"}


@pytest.mark.deep  # in `make test`: the alert of its node, in test_genuine_exporters.py
def test_a_bad_cable_is_one_alert_of_its_port(tmp_path: Path) -> None:
    """Every counter rises; whichever alert is off, the next one tells. A congested fabric is another matter."""
    pool = PoolFacts("ndgpu", {"nvidia.com/gpu": 8}, 8, 2, False, False, False, infiniband=True)
    node = {of("kube_node_labels", ND, label_agentpool="ndgpu"): run(1), of("kube_node_info", ND): run(1)}
    node[of("kube_node_status_allocatable", ND, resource="nvidia_com_gpu")] = run(8)
    node[dcgm("DCGM_FI_DEV_FB_USED", ND)] = run(1)
    up, down = {port("node_infiniband_state_id"): run(4)}, {port("node_infiniband_state_id"): run(1)}
    order = {
        "InfiniBandLinkFlapping": "link_downed",
        "InfiniBandLinkIntegrity": "local_link_integrity_errors",
        "InfiniBandLinkRecoveries": "link_error_recovery",
        "InfiniBandSymbolErrors": "symbol_error",
        "InfiniBandErrors": "port_errors_received",
    }
    bad = {name: value for each in order.values() for name, value in counter(each, 120).items()}
    bad |= counter("excessive_buffer_overrun_errors", 120)
    crowded = counter("port_discards_transmitted", 120) | counter("vl15_dropped", 120)
    names = tuple(order)
    files = [
        rule_tests(
            replace(without(*off), pools=(pool,), osmo_namespace=None),
            [Scene(f"without {off}", {**node, **series}, {MINUTES: [Fired(each, ND) for each in told]})],
            tmp_path,
            f"{number}",
            interval=INTERVAL,
        )
        for number, (off, series, told) in enumerate(
            [
                ((), down | bad | crowded, ["InfiniBandPortDown"]),
                (("InfiniBandPortDown",), down | bad | crowded, ["InfiniBandLinkFlapping"]),
                *((names[:off], up | bad, [names[off]]) for off in range(len(names) - 1)),
                (names[:-1], up | bad, ["InfiniBandBufferOverruns", "InfiniBandErrors"]),
                ((), up | crowded, ["InfiniBandManagementDrops", "InfiniBandTransmitDiscards"]),
            ]
        )
    ]
    found = failures(files)
    assert not found, found
