"""Pulumi's own Kubernetes plugin in place of the stand-in: its wiring, and what both plan where it is installed."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from parts.kube_prometheus.names import GRAFANA_PASSWORD_KEY, GRAFANA_SECRET, GRAFANA_USER_KEY
from physical_ai.repository import ROOT
from simulator.home import HOME_VARIABLE, Home
from simulator.kubernetes_plugin import PATH_VARIABLE, installed
from simulator.simulation import Simulation
from tests.simulator.homes import Homes, wipe
from tests.simulator.killed_install import administrator
from tests.simulator.physai import fixed, physai

LAB = "onprem-lab"
OFFICIAL = ("--kubernetes-plugin", "official")
SETTINGS: dict[str, tuple[str, ...]] = {
    "nothing": (),
    "tag": ("--set", "tags.team=vision"),
    "node label": ("--set", "pools.h100gpu.labels={team: vision}"),
    "taint": ("--set", "pools.h100gpu.taints=['team=vision:NoSchedule']"),
    "fixed count": fixed("h100gpu", 2),
    "size": ("--set", "pools.h100gpu.sku=Standard_NC80adis_H100_v5"),
    "time slicing": ("--set", "pools.h100gpu.sharing={timeSlicing: {replicas: 4}}"),
    "driver version": ("--set", "gpuOperator.driver.version='580.159.04'"),
    "module type": ("--set", "gpuOperator.driver.moduleType=open"),
    "pool removed": ("--set", "pools.rtxprogpu=null"),
    "no agents": ("--set", "osmo.mode=namespaces"),
    "queues": ("--set", "osmo.queues=perPool"),
}
"""Changes by their names."""


def wrapper(path: Path, tools: Path) -> Path:
    """The stand-in as a plugin of its own process, for the simulation whose engine starts it."""
    command = shlex.join([sys.executable, "-m", "simulator.plugin", "kubernetes"])
    folder = '"$(dirname "$PULUMI_HOME")"'
    lines = ["#!/bin/sh", 'test -z "$KUBECONFIG" || exit 1', f"PYTHONPATH={shlex.quote(str(ROOT))} \\"]
    path.write_text("\n".join([*lines, f"exec {command} {folder} {shlex.quote(str(tools))}", ""]))
    path.chmod(0o700)
    return path


@pytest.mark.deep
def test_a_plugin_on_the_machine_runs_in_place_of_the_stand_in(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(PATH_VARIABLE, str(wrapper(tmp_path / "plugin", home.tools)))
    only_azure_and_namespaces = ("--set", "osmo.mode=namespaces", *fixed("h100gpu", 0), *fixed("rtxprogpu", 0))
    physai("up", *OFFICIAL, *only_azure_and_namespaces)
    assert physai("preview", "--json", *only_azure_and_namespaces).json["changes"] == []
    refused = physai("up", "--kubernetes-plugin", "stand-in", expect=1).err
    assert "was deployed with the plugin 'official'" in refused
    physai("down")
    assert not Simulation("dev-westus2").exists


def deployed(homes: Homes, folder: Path, *arguments: str) -> Iterator[Home]:
    """A home in which a stack is deployed with the official plugin."""
    if installed(os.environ) is None:
        pytest.skip(f"the official Kubernetes plugin is not on this machine; {PATH_VARIABLE} names it elsewhere")
    made = homes.make(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(HOME_VARIABLE, str(made.folder))
        physai("up", *arguments, *OFFICIAL)
    yield made
    wipe(made)


@pytest.fixture(scope="module")
def official(homes: Homes, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """The default stack."""
    yield from deployed(homes, tmp_path_factory.mktemp("official"))


@pytest.fixture(scope="module")
def official_lab(homes: Homes, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """The stack on an existing cluster, which has monitoring and data services in the cluster."""
    yield from deployed(homes, tmp_path_factory.mktemp("official-lab"), LAB)


def planned(home: Home, change: tuple[str, ...]) -> list[tuple[Any, ...]]:
    """Operation, resource and changed properties of each step."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(HOME_VARIABLE, str(home.folder))
        changes = physai("preview", "--json", *change).json["changes"]
    return sorted((each["op"], each["type"], each["name"], *each.get("properties", ())) for each in changes)


@pytest.mark.parametrize("change", list(SETTINGS))
def test_both_plugins_plan_the_same(official: Home, request: pytest.FixtureRequest, change: str) -> None:
    stand_in: Simulation = request.getfixturevalue("shared_deployment")  # not deployed for tests that are skipped
    assert planned(official, SETTINGS[change]) == planned(stand_in.home, SETTINGS[change])


@pytest.mark.deep
def test_a_stack_on_an_existing_cluster_settles_with_the_plugin(
    official_lab: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a run makes anew, or the server drops, would be a change here, and after the second `up` a loss."""
    monkeypatch.setenv(HOME_VARIABLE, str(official_lab.folder))
    before = login(official_lab)
    assert set(before) == {GRAFANA_USER_KEY, GRAFANA_PASSWORD_KEY}
    for options in ((), ("--refresh",)):
        assert physai("preview", LAB, "--json", *options).json["changes"] == []
    physai("up", LAB)
    assert login(official_lab) == before


def login(home: Home) -> dict[str, str]:
    client = administrator(Simulation(LAB, home))
    return client.get(f"/api/v1/namespaces/monitoring/secrets/{GRAFANA_SECRET}")["data"]
