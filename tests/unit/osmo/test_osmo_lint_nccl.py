"""What the check of workflows says about NCCL's variables."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from physical_ai.catalog import nccl
from physical_ai.settings import load
from tests.support.cases import in_one_test
from workbench.osmo.lint import Context, check_text, of_stack

TASK = """workflow:
  name: example
  timeout: {exec_timeout: 2h}
  resources:
    default: {platform: PLATFORM, gpu: 1, cpu: 8, memory: 64Gi, storage: 100Gi}
  tasks:
  - name: train
    image: registry.example/trainer:1.2@sha256:5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef
    command: [bash, -c]
"""


@cache
def stack() -> Context:
    return of_stack(load("dev-westus2").settings)


def rules(
    task: str,
    context: Context | None = None,
    platform: str = "h100",
    capabilities: str = "    environment: {NVIDIA_DRIVER_CAPABILITIES: all}\n",
) -> list[str]:
    found = check_text(TASK.replace("PLATFORM", platform) + capabilities + task, "w.yaml", context or stack(), Path())
    return [each.rule for each in found.findings]


def environment(name: str, value: str) -> str:
    return f'    environment: {{NVIDIA_DRIVER_CAPABILITIES: all, {name}: "{value}"}}\n'


@in_one_test(
    ("name", "value", "expected"),
    [
        ("NCCL_IB_GID_INDEX", "3", ["nccl-automatic"]),
        ("NCCL_CROSS_NIC", "0", ["nccl-automatic"]),
        ("NCCL_DEBUG", "INFO", ["nccl-debugging"]),
        ("NCCL_DEBUG", "WARN", []),
        ("NCCL_DEBUG_SUBSYS", "ALL", ["nccl-debugging"]),
        ("NCCL_P2P_DISABLE", "1", ["nccl-debugging"]),
        ("NCCL_P2P_DISABLE", "0", []),
        ("NCCL_IB_DISABLE", "1", ["nccl-debugging"]),
        ("NCCL_IB_HCA", "mlx5", ["nccl-fabric"]),
        ("NCCL_COLLNET_ENABLE", "1", ["nccl-fabric"]),
        ("NCCL_TOPO_FILE", "/opt/microsoft/ndv5-topo.xml", ["nccl-fabric"]),
        ("NCCL_SOCKET_IFNAME", "eth", []),
        ("NCCL_SOCKET_IFNAME", "=eth0", []),
        ("NCCL_SOCKET_IFNAME", "=eth", ["nccl-interface"]),
        ("NCCL_SOCKET_IFNAME", "^lo", []),
        ("NCCL_SOCKET_IFNAME", "enp,ib0", ["nccl-interface"]),
        ("NCCL_MIN_NCHANNELS", "32", []),
    ],
)
def test_stale_advice_is_found_and_what_is_right_today_is_not(name: str, value: str, expected: list[str]) -> None:
    assert rules("", capabilities=environment(name, value)) == expected


def test_scripts_are_read_too_and_each_variable_counts_once() -> None:
    script = "    args: ['export NCCL_DEBUG=INFO; export NCCL_DEBUG=INFO; NCCL_IB_GID_INDEX=\"3\" python train.py']\n"
    assert sorted(rules(script)) == ["nccl-automatic", "nccl-debugging"]
    file = "    files:\n    - {path: /tmp/run.sh, contents: 'mpirun -x NCCL_IB_TC=106 ./train'}\n"
    assert rules(file) == ["nccl-fabric"]


def test_on_infiniband_its_variables_are_right_and_the_automatic_ones_still_not() -> None:
    fabric = replace(stack(), nccl={"h100": "infiniband"})
    for name, value in nccl.pool_kind("Standard_ND96isr_H100_v5").environment.items():
        assert rules("", fabric, capabilities=environment(name, value)) == []
    assert rules("", fabric, capabilities=environment("NCCL_IB_GID_INDEX", "3")) == ["nccl-automatic"]


def test_without_a_stack_nothing_is_known_of_the_fabric() -> None:
    unknown = replace(stack(), nccl={})
    assert rules("", unknown, capabilities=environment("NCCL_IB_TC", "106")) == []


@pytest.mark.parametrize(
    ("size", "kind"),
    [
        ("Standard_ND96isr_H100_v5", "infiniband"),
        ("Standard_NC80adis_H100_v5", "peers"),
        ("Standard_NC40ads_H100_v5", "single"),
        ("Standard_NC144ds_xl_RTXPRO6000BSE_v6", "single"),
    ],
)
def test_the_kind_of_a_pool_follows_from_its_size(size: str, kind: str) -> None:
    assert nccl.pool_kind(size).kind == kind


def test_the_environment_of_a_kind_sets_nothing_that_the_rules_find() -> None:
    for each in nccl.pool_kinds():
        for name in each.environment:
            known = nccl.variable(name)
            assert known is None or known.problem == "interface" or each.kind == "infiniband"
