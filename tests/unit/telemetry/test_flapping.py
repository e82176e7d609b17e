"""Causes that come and go, and one cause that two rules see: each is one alert, and none is silent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from physical_ai.settings import load
from physical_ai.settings.facts.telemetry import rule_parameters
from physical_ai.telemetry.parameters import Override, Parameters
from tests.support.alert_series import H100, dcgm, of
from tests.support.rule_tests import Fired, Scene, check

MINUTES = 100
EXPORTER = "nvidia-dcgm-exporter-a"


def dev() -> Parameters:
    return replace(rule_parameters(load("dev-westus2").settings), osmo_namespace=None)


def run(value: float) -> str:
    return f"{value:g}x{MINUTES}"


def repeated(*parts: tuple[float, int]) -> str:
    """Values, each for so many minutes, again and again."""
    once = " ".join(f"{value:g}x{minutes - 1}" for value, minutes in parts)
    return " ".join([once] * (MINUTES // sum(minutes for _, minutes in parts) + 1))


NODE = {
    of("kube_node_labels", H100, label_agentpool="h100gpu"): run(1),
    of("kube_node_info", H100): run(1),
    of("kube_node_status_allocatable", H100, resource="nvidia_com_gpu"): run(1),
    dcgm("DCGM_FI_DEV_FB_USED"): run(100),
    of("gpu_operator_node_driver_ready", H100): run(1),
    of("gpu_operator_node_toolkit_ready", H100): run(1),
    of("gpu_operator_node_device_plugin_devices_total", H100): run(1),
}


def pending(on: str = H100) -> dict[str, str]:
    """The exporter's Pod does not start, on a node or for want of room."""
    where = f'namespace="gpu-operator",pod="{EXPORTER}"'
    return {
        f'kube_pod_status_phase{{{where},phase="Pending"}}': run(1),
        f'kube_pod_info{{{where},node="{on}",created_by_kind="DaemonSet",created_by_name="nvidia-dcgm-exporter"}}': run(
            1
        ),
    }


def scene(name: str, series: Mapping[str, str], told: Sequence[Fired], *, without: Sequence[str] = ()) -> Scene:
    given = {key: value for key, value in NODE.items() if key not in without}
    return Scene(name, {**given, **series}, {MINUTES - 2: told})


def of_plugin(values: str, allocatable: str) -> dict[str, str]:
    return {
        of("gpu_operator_node_device_plugin_devices_total", H100): values,
        of("kube_node_status_allocatable", H100, resource="nvidia_com_gpu"): allocatable,
    }


@pytest.mark.deep  # in `make test`: each of the alerts alone, in test_alerts.py
def test_a_cause_that_pauses_while_its_container_starts_again_has_its_alert(tmp_path: Path) -> None:
    """Without the pause counting as none, the alert about it never holds, and those that yield to it are silent too."""
    flaps = repeated((0, 5), (1, 2))
    driver = of("gpu_operator_node_driver_ready", H100)
    toolkit = of("gpu_operator_node_toolkit_ready", H100)
    check(
        dev(),
        [
            scene("the plugin", of_plugin(flaps, flaps), [Fired("GPUDevicePluginNotReady", H100)]),
            scene("the driver", {driver: flaps, toolkit: flaps}, [Fired("GPUDriverNotReady", H100)]),
            scene("the toolkit", {toolkit: flaps}, [Fired("GPUToolkitNotReady", H100)]),
        ],
        tmp_path,
    )


def test_a_driver_that_takes_its_time_has_none(tmp_path: Path) -> None:
    """A build of 20 minutes, and what comes after it."""
    built = {
        of("gpu_operator_node_driver_ready", H100): f"0x19 {run(1)}",
        of("gpu_operator_node_toolkit_ready", H100): f"0x20 {run(1)}",
        **of_plugin(f"0x21 {run(1)}", f"0x21 {run(1)}"),
    }
    ever = Scene("built", {**NODE, **built}, {}, ever={MINUTES - 2: ()})
    check(dev(), [ever], tmp_path)


@pytest.mark.deep  # in `make test`: each of the alerts alone, in test_alerts.py
def test_an_exporter_that_does_not_start_is_one_alert(tmp_path: Path) -> None:
    used = dcgm("DCGM_FI_DEV_FB_USED")
    absent = [Fired("GPUTelemetryAbsent", H100)]
    waits = [Fired("GPUOperandPending", pod=EXPORTER)]
    check(
        dev(),
        [
            scene("on its node", pending(), absent, without=[used]),
            scene("without room", pending(""), absent, without=[used]),
            scene("a second one, where the first reports", pending(), waits),
        ],
        tmp_path,
    )
    off = replace(dev(), overrides={"GPUTelemetryAbsent": Override(enabled=False)})
    check(off, [scene("unsaid", pending(), waits, without=[used])], tmp_path)


FLEET = 1000


@pytest.mark.deep
def test_a_fleet_whose_exporters_restart_together_is_quiet_and_one_that_stays_away_is_told(tmp_path: Path) -> None:
    """As when their DaemonSet is updated: ten minutes without a series, then counters that begin again."""
    interval, steps, away = 4, 24, 3
    names = [f"node-{number:04}" for number in range(FLEET)]

    def of_fleet(stays_away: str) -> dict[str, str]:
        series = dict[str, str]()
        for name in names:
            series[of("kube_node_labels", name, label_agentpool="h100gpu")] = f"1x{steps}"
            series[of("kube_node_info", name)] = f"1x{steps}"
            series[of("kube_node_status_allocatable", name, resource="nvidia_com_gpu")] = f"1x{steps}"
            back = f"_x{steps}" if name == stays_away else f"_x{away - 1} 100x{steps - away - 4}"
            series[dcgm("DCGM_FI_DEV_FB_USED", name)] = f"100x3 {back}"
            counted = f"_x{steps}" if name == stays_away else f"_x{away - 1} 0x{steps - away - 4}"
            series[dcgm("DCGM_FI_DEV_ECC_SBE_VOL_TOTAL", name)] = f"500x3 {counted}"
            series[dcgm("DCGM_FI_DEV_PCIE_REPLAY_COUNTER", name)] = f"500x3 {counted}"
        return series

    end = interval * (steps - 2)
    scenes = [
        Scene("all come back", of_fleet(""), {}, ever={end: ()}),
        Scene("one does not", of_fleet(names[7]), {}, ever={end: [("GPUTelemetryAbsent", names[7])]}),
    ]
    check(dev(), scenes, tmp_path, interval=interval)
