"""What simulated exporters print."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from physical_ai.catalog import vm_size
from physical_ai.telemetry.counters import csv_for
from simulator.faults import Injected, NodeFaults
from simulator.faults.record import ANNOTATION, annotation, node_faults
from simulator.gpu.counters import csv_fault
from simulator.gpu.hardware import Hardware, of_size
from simulator.metrics import dcgm, kube_state, node_exporter
from simulator.metrics.dcgm_units import Job
from simulator.metrics.dcgm_values import default_csv

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


def values(gpus: dcgm.Gpus, name: str, now: float = 0.0, text: str = CSV) -> list[float]:
    return [float(line.rpartition(" ")[2]) for line in samples(gpus, name, now, text)]


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
    busy = replace(H100, jobs=[Job("osmo-workflows", "train-1", "train")])
    assert values(busy, "DCGM_FI_PROF_GR_ENGINE_ACTIVE") == [0.96, 0]
    first, second = samples(busy, "DCGM_FI_DEV_FB_USED")
    assert 'namespace="osmo-workflows",pod="train-1"' in first
    assert "pod=" not in second


MIG = replace(H100, hardware=replace(H100.hardware, mig=(("3g.47gb", "3g.47gb"), None)))


def test_instances_take_the_place_of_their_gpu() -> None:
    busy = replace(MIG, jobs=[Job("n", "a", "c", resource="nvidia.com/mig-3g.47gb"), Job("n", "b", "c", 0.5)])
    first, second, whole = samples(busy, "DCGM_FI_PROF_SM_ACTIVE")
    assert 'GPU_I_PROFILE="3g.47gb",GPU_I_ID="0"' in first
    assert 'GPU_I_PROFILE="3g.47gb",GPU_I_ID="1"' in second
    assert 'gpu="1"' in whole
    assert "GPU_I_ID" not in whole
    assert ['pod="a"' in first, 'pod="b"' in second] == [True, True]
    assert values(busy, "DCGM_FI_PROF_SM_ACTIVE") == [0.84, 0.42, 0]
    temperatures = values(busy, "DCGM_FI_DEV_GPU_TEMP")
    assert temperatures[0] == temperatures[1] > temperatures[2]  # of their GPU
    assert len(values(busy, "DCGM_FI_DEV_GPU_UTIL")) == len(values(busy, "DCGM_FI_DEV_ROW_REMAP_PENDING")) == 1
    assert len(values(busy, "DCGM_EXP_GPU_HEALTH_STATUS")) == 2 * 11
    assert values(busy, "DCGM_FI_DEV_FB_USED")[0] < values(H100, "DCGM_FI_DEV_FB_FREE")[0]


SHARED = replace(H100, jobs=[Job("n", name, "c") for name in "abc"], per_pod=True, shared=True)


def test_pods_that_share_a_gpu_have_series_of_their_own_if_asked_for() -> None:
    lines = samples(SHARED, "DCGM_FI_DEV_FB_FREE")
    assert [re.findall(r'gpu="(\d)"|pod="(.)"|vgpu="(.)"', line) for line in lines] == [
        [("0", "", ""), ("", "a", ""), ("", "", "0")],
        [("0", "", ""), ("", "c", ""), ("", "", "1")],
        [("1", "", ""), ("", "b", ""), ("", "", "0")],
    ]
    one_of_them = samples(replace(SHARED, per_pod=False), "DCGM_FI_DEV_FB_USED")
    assert [re.findall(r'pod="(.)"', line) for line in one_of_them] == [["c"], ["b"]]


def test_memory_and_utilization_of_a_shared_gpu_are_those_of_each_pod_beside_the_device() -> None:
    """createPerProcessMetrics of NVIDIA/dcgm-exporter 4.5.3-4.8.2: the copies have pod_uid, the device has no Pod."""
    jobs = [Job("n", "a", "c", 1.0), Job("n", "b", "c", 0.0)]
    one = replace(SHARED, hardware=hardware("Standard_NC40ads_H100_v5"), jobs=jobs)
    lines = samples(one, "DCGM_FI_DEV_GPU_UTIL")
    assert [re.findall(r'pod="(\w)"', line) for line in lines] == [[], ["a"], ["b"]]
    assert ["pod_uid" in line for line in lines] == [False, True, True]
    assert values(one, "DCGM_FI_DEV_GPU_UTIL") == [97, 97, 0]
    assert not any("pod_uid" in line for line in samples(one, "DCGM_FI_PROF_GR_ENGINE_ACTIVE"))
    assert len(samples(replace(one, exporter="4.5.1-4.8.0"), "DCGM_FI_DEV_GPU_UTIL")) == 2


@pytest.mark.parametrize(
    ("exporter", "xid", "watch", "status"),
    [
        ("4.4.2-4.7.0", 94, "ALL", None),
        ("4.5.3-4.8.2", 94, "ALL", 20),
        ("4.6.0-4.8.3", 94, "ALL", 10),
        ("4.6.0-4.8.3", 31, "MEM", 10),
    ],
)
def test_dcgm_forgets_no_xid_before_its_exporter_ends(exporter: str, xid: int, watch: str, status: int | None) -> None:
    before = replace(H100, exporter=exporter, faults=faulty(Injected(f"xid-{xid}", 0, 0.0)), totals=dcgm.Totals())
    after = replace(before, faults=faulty(Injected("thermal", 1, 0.0)))
    text = csv_for(
        "v26.3.0" if exporter.startswith("4.5.3") else "v26.7.0" if exporter.startswith("4.6") else "v25.10.1"
    )
    for gpus in (before, after):
        found = [line for line in samples(gpus, "DCGM_EXP_GPU_HEALTH_STATUS", text=text) if f'"{watch}"' in line]
        assert [line for line in found if 'gpu="0"' in line and line.endswith(f" {status}")] or status is None
    restarted = replace(after, totals=dcgm.Totals())
    rest = [line for line in samples(restarted, "DCGM_EXP_GPU_HEALTH_STATUS", text=text) if f'"{watch}"' in line]
    assert all(line.endswith(" 0") for line in rest)


def test_what_stands_for_ever_on_healthy_boards() -> None:
    def failing(gpus: dcgm.Gpus) -> set[str]:
        lines = samples(gpus, "DCGM_EXP_GPU_HEALTH_STATUS")
        return {
            code for line in lines if line.endswith(" 20") for code in re.findall(r'health_error_code="(\w+)"', line)
        }

    assert failing(replace(H100, totals=dcgm.Totals())) == {"DCGM_FR_NVLINK_DOWN"}
    assert failing(VGPU) == set()
    hgx = replace(H100, hardware=hardware("Standard_ND96isr_H100_v5"), totals=dcgm.Totals())
    assert failing(hgx) == {"DCGM_FR_IMEX_UNHEALTHY"}
    sliced = replace(H100.hardware, mig=(("1g.12gb",), ("1g.12gb",)))
    assert failing(replace(H100, hardware=sliced, totals=dcgm.Totals())) == set()


@pytest.mark.parametrize(
    ("exporter", "idle", "half_busy"), [("4.3.1-4.4.0", 0, 1), ("4.4.2-4.7.0", 2, 1), ("4.5.3-4.8.2", 2, 2)]
)
def test_older_exporters_lose_gpus_that_no_pod_holds(exporter: str, idle: int, half_busy: int) -> None:
    node = replace(SHARED, exporter=exporter, jobs=[])
    assert len(values(node, "DCGM_FI_DEV_FB_FREE")) == idle
    assert len(values(replace(node, jobs=[Job("n", "a", "c")]), "DCGM_FI_DEV_FB_FREE")) == half_busy


def test_a_part_of_a_gpu_counts_no_work() -> None:
    part = replace(VGPU, hardware=hardware("Standard_NC72ds_xl_RTXPRO6000BSE_v6"))
    assert values(VGPU, "DCGM_FI_PROF_SM_ACTIVE") == [0]
    assert values(part, "DCGM_FI_PROF_SM_ACTIVE") == []


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
    broken = replace(H100, faults=faulty(Injected("xid-79", 0, 0.0)), totals=dcgm.Totals())
    assert values(broken, "DCGM_EXP_XID_ERRORS_COUNT") == [0, 0]
    health = samples(broken, "DCGM_EXP_GPU_HEALTH_STATUS")
    assert len(health) == 2 * 11
    (failed,) = (line for line in health if not line.endswith(" 0") and 'health_watch="NVLINK"' not in line)
    assert 'gpu="0"' in failed
    assert 'health_watch="ALL",health_error_code="DCGM_FR_FALLEN_OFF_BUS"} 20' in failed


def test_an_exporter_without_the_watch_of_everything_does_not_see_it_either() -> None:
    broken = replace(H100, exporter="4.4.2-4.7.0", faults=faulty(Injected("xid-79", 0, 0.0)), totals=dcgm.Totals())
    lines = samples(broken, "DCGM_EXP_GPU_HEALTH_STATUS", text=csv_for("v25.10.1"))
    assert all(line.endswith(" 0") for line in lines if 'health_watch="NVLINK"' not in line)


def test_a_lost_gpu_has_no_series_and_a_node_without_a_driver_has_none() -> None:
    lost = replace(H100, faults=faulty(Injected("gpu-lost", 0, 0.0)))
    assert ['gpu="1"' in each for each in samples(lost, "DCGM_FI_DEV_FB_USED")] == [True]
    assert dcgm.page(replace(H100, faults=faulty(Injected("driver-gone", 0, 0.0))), CSV, 0.0) == ""


@pytest.mark.parametrize(
    ("text", "exporter", "fault"),
    [
        (CSV, NEW, ""),
        (default_csv(), OLD, ""),
        ("DCGM_FI_DEV_SM_UTIL, gauge, x", NEW, "could not find DCGM field"),
        ("DCGM_FI_DEV_CLOCK_THROTTLE_REASONS, gauge, x", OLD, "could not find DCGM field"),
        ("DCGM_FI_DEV_GPU_TEMP, gauge, a, b", NEW, "columns"),
    ],
)
def test_an_exporter_ends_at_a_name_that_it_does_not_know(text: str, exporter: str, fault: str) -> None:
    found = csv_fault(text, exporter)
    assert (fault in found) if fault else not found


def test_ports_of_infiniband_are_active() -> None:
    lines = [line for line in node_exporter.page(2).splitlines() if line.startswith("node_infiniband_state_id")]
    assert lines == [f'node_infiniband_state_id{{device="mlx5_ib{number}",port="1"}} 4' for number in (0, 1)]
    assert {line[0] for line in node_exporter.page(0).splitlines()} == {"#"}  # only what describes them


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
