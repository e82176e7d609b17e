"""Servers of existing clusters, and the one look-up that finds them and VM sizes."""

from __future__ import annotations

import datetime

import pytest

from physical_ai import catalog
from physical_ai.catalog import hardware
from physical_ai.catalog.gpu_lookup import branch_number, operator_release, version
from physical_ai.catalog.hardware import Server, on_premises, upstream_minors
from physical_ai.catalog.load import CatalogError, row
from physical_ai.catalog.lookup import UnknownName

H100 = "Standard_NC40ads_H100_v5"


@pytest.mark.parametrize(
    ("name", "shape", "model", "memory"),
    [
        ("hgx-b200", (2, 8, 9, 400), "B200", 180),
        ("rtx-pro-server", (2, 8, 5, 200), "RTX PRO 6000 Blackwell Server Edition", 96),
    ],
)
def test_a_server_has_its_shape_and_whole_gpus(
    name: str, shape: tuple[int, int, int, int], model: str, memory: int
) -> None:
    server = catalog.server(name)
    assert server.gpu is not None
    assert (server.sockets, server.gpu.count, server.nics, server.rail_gbps) == shape
    assert (server.gpu.model, server.gpu.memory_gib, server.gpu.share) == (model, memory, "1")
    assert not server.gpu.virtual
    assert not server.gpu.host_mig
    assert server.driver_sources == ("operator", "host")
    assert server.rails < server.nics


def test_one_look_up_finds_sizes_and_servers() -> None:
    assert catalog.machine(H100) is catalog.vm_size(H100)
    assert catalog.machine("hgx-b200") is catalog.server("hgx-b200")
    assert {H100, "hgx-b200"} <= set(catalog.machines())


@pytest.mark.parametrize(
    ("typo", "meant"), [("hgx-b20", "hgx-b200"), ("rtx-pro-servers", "rtx-pro-server"), ("NC40ads_H100_v5", H100)]
)
def test_an_unknown_machine_suggests_the_nearest_of_either(typo: str, meant: str) -> None:
    with pytest.raises(UnknownName) as caught:
        catalog.machine(typo)
    assert caught.value.suggestion == meant


def test_the_gpus_of_servers_have_mig_profiles_and_drivers() -> None:
    for server in (each for each in catalog.servers().values() if each.gpu is not None):
        assert server.gpu is not None
        assert server.minimum_driver is not None
        profiles = catalog.mig_model(server.gpu.model)
        assert profiles is not None
        whole = [name for name in profiles.profiles if name.endswith(f".{server.gpu.memory_gib}gb")]
        assert len(whole) == 1
        assert profiles.profiles[whole[0]].memory == 8
        assert version(server.minimum_driver) < version("580.82.07")


def test_the_reference_is_a_combination_that_its_operator_release_was_tested_with() -> None:
    reference, release = on_premises(), operator_release("v25.3.4")
    assert release.kubernetes is not None
    assert release.containerd is not None
    low, high = (version(text) for text in release.kubernetes)
    assert low <= version(reference.kubernetes)[:2] <= high
    assert version(reference.containerd)[:2] <= version(release.containerd[1])
    assert reference.os_release in release.ubuntu
    assert release.default_driver == "580.82.07"
    assert branch_number(release.default_driver) == 580


def test_a_shape_that_contradicts_its_parts_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    good = catalog.server("hgx-b200").model_dump(mode="python", by_alias=True)
    monkeypatch.setattr(hardware, "read_rows", lambda _: [{**good, "shape": "2-8-5-400"}])
    with pytest.raises(CatalogError, match="another shape"):
        hardware.servers.__wrapped__()
    monkeypatch.setattr(hardware, "read_rows", lambda _: [{**good, "driverSources": ["aks"]}])
    with pytest.raises(CatalogError, match="AKS installs no driver"):
        hardware.servers.__wrapped__()
    with pytest.raises(CatalogError):
        row(Server, {**good, "nvswitch": True}, "servers.yaml: x")


def test_upstream_minors_are_in_order_and_have_sources() -> None:
    minors = list(upstream_minors().values())
    assert [version(item.minor) for item in minors] == sorted(version(item.minor) for item in minors)
    assert upstream_minors()["1.32"].end_of_life == datetime.date(2026, 2, 28)
    for item in (*minors, *catalog.servers().values(), on_premises()):
        assert item.source
        assert item.date <= datetime.datetime.now(datetime.UTC).date()
