"""Device-plugin configurations by pool, on a node."""

from __future__ import annotations

import pytest

from simulator.gpu.names import DEVICE_PLUGIN_CONFIG
from tests.support.gpu_hardware import h100, rtx_pro_6000
from tests.support.gpu_model import GRID, gpu_model

PLUGIN = "nvidia-device-plugin-daemonset"


def test_unknown_device_plugin_config_fails_the_init_container() -> None:
    plugin = {"config": {"name": "pools", "default": "full"}}
    made = gpu_model(devicePlugin=plugin)
    made.join("h100-0", h100(), configs={"full": {}}, labels={DEVICE_PLUGIN_CONFIG: "h1000"})
    made.wait()
    assert made.closed_gates("h100-0")[PLUGIN] == (
        "Init:CrashLoopBackOff (config-manager-init): error: specified config h1000 does not exist"
    )


@pytest.mark.parametrize(
    ("globally", "expected"), [("none", {"nvidia.com/gpu": 1}), ("", {"nvidia.com/mig-4g.96gb": 1})]
)
def test_a_global_mig_strategy_beats_the_pools_own(globally: str, expected: dict[str, int]) -> None:
    made = gpu_model(mig={"strategy": globally}, devicePlugin={"config": {"name": "pools", "default": "rtx"}})
    made.join("rtx-0", rtx_pro_6000(), host=GRID, configs={"rtx": {"flags": {"migStrategy": "mixed"}}})
    assert made.gpus("rtx-0") == expected
