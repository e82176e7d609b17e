"""What simulated exporters print."""

from __future__ import annotations

from dataclasses import replace

import pytest

from physical_ai.catalog import vm_size
from physical_ai.simulator.faults import Injected, NodeFaults
from physical_ai.simulator.faults.record import ANNOTATION, annotation, node_faults
from physical_ai.simulator.gpu.counters import csv_fault
from physical_ai.simulator.gpu.hardware import Hardware, of_size
from physical_ai.simulator.metrics import dcgm, kube_state
from physical_ai.telemetry.counters import csv_for

NEW, OLD = "4.6.0-4.8.3", "4.5.1-4.8.0"
CSV = csv_for("v26.7.0")


def hardware(size: str) -> Hardware:
    found = of_size(vm_size(size))
    assert found is not None
    return found


H100 = dcgm.Gpus("aks-h100-1", hardware("Standard_NC80adis_H100_v5"), "595.91.07", NEW, [])
VGPU = dcgm.Gpus("aks-rtx-1", hardware("Standard_NC144ds_xl_RTXPRO6000BSE_v6"), "595.91.07", NEW, [])


def faulty(*items: Injected) -> NodeFaults:
    value = annotation(items)
    assert value is not None
    return node_faults({"metadata": {"annotations": {ANNOTATION: value}}})


def samples(gpus: dcgm.Gpus, name: str, now: float = 0.0, text: str = CSV) -> list[str]:
    return [line for line in dcgm.page(gpus, text, now).splitlines() if line.startswith((f"{name}{{", f"{name} "))]


def values(gpus: dcgm.Gpus, name: str, now: float = 0.0) -> list[float]:
    return [float(line.rpartition(" ")[2]) for line in samples(gpus, name, now)]


def test_an_exporter_prints_the_fields_of_its_csv_and_their_help() -> None:
    text = dcgm.page(H100, "DCGM_FI_DEV_GPU_TEMP, gauge, Heat.\nDCGM_FI_DRIVER_VERSION, label, Driver.\n", 0.0)
    assert text.splitlines()[:2] == ["# HELP DCGM_FI_DEV_GPU_TEMP Heat.", "# TYPE DCGM_FI_DEV_GPU_TEMP gauge"]
    assert len(text.splitlines()) == 4
    assert 'DCGM_FI_DRIVER_VERSION="595.91.07"' in text


@pytest.mark.parametrize(("exporter", "label"), [(NEW, "hostname"), (OLD, "Hostname")])
def test_the_label_of_the_host_follows_the_version(exporter: str, label: str) -> None:
    (first, _) = samples(replace(H100, exporter=exporter), "DCGM_FI_DEV_FB_USED")
    assert f'{label}="aks-h100-1"' in first


def test_a_vgpu_reports_fewer_fields() -> None:
    assert values(VGPU, "DCGM_FI_DEV_FB_USED") == [0]
    assert values(VGPU, "DCGM_FI_DEV_VGPU_LICENSE_STATUS") == [1]
    assert values(VGPU, "DCGM_FI_DEV_GPU_TEMP") == []
    assert values(H100, "DCGM_FI_DEV_GPU_TEMP") == [34, 34]


def test_a_gpu_that_a_pod_holds_is_busy_and_names_the_pod() -> None:
    busy = replace(H100, jobs=[dcgm.Job("osmo-workflows", "train-1", "train")])
    assert values(busy, "DCGM_FI_PROF_GR_ENGINE_ACTIVE") == [0.96, 0]
    first, second = samples(busy, "DCGM_FI_DEV_FB_USED")
    assert 'namespace="osmo-workflows",pod="train-1"' in first
    assert "pod=" not in second


def test_counters_gain_with_time_and_keep_what_they_have() -> None:
    hot = replace(H100, faults=faulty(Injected("thermal", 0, 0.0)), totals=dcgm.Totals())
    name = "DCGM_FI_DEV_THERMAL_VIOLATION"
    assert [values(hot, name, now) for now in (10.0, 12.0)] == [[0, 0], [400_000_000, 0]]
    assert values(replace(hot, faults=NodeFaults()), name, 20.0) == [400_000_000, 0]


def test_an_xid_is_counted_for_its_gpu() -> None:
    broken = replace(H100, faults=faulty(Injected("xid-48", 1, 0.0)))
    counts = samples(broken, "DCGM_EXP_XID_ERRORS_COUNT")
    assert ['xid="48"' in each for each in counts] == [False, True]
    assert values(broken, "DCGM_FI_DEV_XID_ERRORS") == [0, 48]


def test_dcgm_does_not_see_that_a_gpu_has_fallen_off_the_bus() -> None:
    broken = replace(H100, faults=faulty(Injected("xid-79", 0, 0.0)))
    assert values(broken, "DCGM_EXP_XID_ERRORS_COUNT") == [0, 0]
    assert values(broken, "DCGM_EXP_GPU_HEALTH_STATUS") == [20, 0]


def test_a_lost_gpu_has_no_series_and_a_node_without_a_driver_has_none() -> None:
    lost = replace(H100, faults=faulty(Injected("gpu-lost", 0, 0.0)))
    assert ['gpu="1"' in each for each in samples(lost, "DCGM_FI_DEV_FB_USED")] == [True]
    assert dcgm.page(replace(H100, faults=faulty(Injected("driver-gone", 0, 0.0))), CSV, 0.0) == ""


@pytest.mark.parametrize(
    ("text", "exporter", "fault"),
    [
        (CSV, NEW, ""),
        (dcgm.default_csv(), OLD, ""),
        ("DCGM_FI_DEV_SM_UTIL, gauge, x", NEW, "could not find DCGM field"),
        ("DCGM_FI_DEV_CLOCK_THROTTLE_REASONS, gauge, x", OLD, "could not find DCGM field"),
        ("DCGM_FI_DEV_GPU_TEMP, gauge, a, b", NEW, "columns"),
    ],
)
def test_an_exporter_ends_at_a_name_that_it_does_not_know(text: str, exporter: str, fault: str) -> None:
    found = csv_fault(text, exporter)
    assert (fault in found) if fault else not found


def test_kube_state_metrics_names_resources_as_the_real_one() -> None:
    node = {"metadata": {"name": "n"}, "status": {"allocatable": {"nvidia.com/gpu": "2", "cpu": "3900m"}}}
    text = kube_state.KubeState().page(kube_state.Objects(nodes=[node]))
    assert 'kube_node_status_allocatable{node="n",resource="nvidia_com_gpu",unit="integer"} 2' in text
    assert 'kube_node_status_allocatable{node="n",resource="cpu",unit="core"} 3.9' in text


def test_kube_state_metrics_follows_changes_of_an_object() -> None:
    state = kube_state.KubeState()

    def page(version: str, count: str) -> str:
        metadata = {"name": "n", "uid": "u", "resourceVersion": version}
        node = {"metadata": metadata, "status": {"capacity": {"nvidia.com/gpu": count}}}
        return state.page(kube_state.Objects(nodes=[node]))

    assert page("1", "2") == page("1", "2")
    assert page("2", "1") != page("1", "2")
    assert state.page(kube_state.Objects()) == ""
