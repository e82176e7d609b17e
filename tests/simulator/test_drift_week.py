"""A week of nightly drift checks by the reading identity: no false alarm, and each change that somebody made."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from physical_ai.catalog import seen, tolerated
from simulator.kubernetes.client import MERGE_PATCH
from simulator.simulation import Simulation
from tests.simulator.killed_install import administrator
from tests.simulator.physai import physai
from tests.simulator.test_year import DRIFT_READER, SECRET_KINDS
from workbench.cli.exit_codes import FINDINGS

pytestmark = pytest.mark.deep
READS = ("--set", f"access.principals=[{DRIFT_READER}]")
POOL_NAME = "physical-ai-h100gpu-nodes"
POOL = "azure-native:containerservice:AgentPool"
FOUND = {"source": "a recording", "how": "seen", "date": datetime.date(2026, 11, 28)}
TOLERATED = {
    "type": POOL,
    "path": "podIPAllocationMode",
    "value": "DynamicIndividual",
    "reason": "Azure fills it in",
    **FOUND,
}
SEEN = {
    "about": "azure",
    "subject": "Microsoft.ContainerService/managedClusters/agentPools h100gpu",
    "path": "properties.podIPAllocationMode",
    "believed": "(absent)",
    "seen": "DynamicIndividual",
    "home": "tolerated_differences.yaml",
    **FOUND,
}


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Copies of the tables of what is tolerated and of what was seen, to which rows are added."""
    for module in (tolerated, seen):
        copied = tmp_path / module.FILE.name
        copied.write_text(module.FILE.read_text())
        monkeypatch.setattr(module, "FILE", copied)
    forget()
    yield tmp_path
    forget()


def forget() -> None:
    tolerated.tolerated_differences.cache_clear()
    seen.seen_facts.cache_clear()


def add(file: Path, row: dict[str, Any]) -> None:
    file.write_text(yaml.safe_dump([*yaml.safe_load(file.read_text()), row]))
    forget()


def night(expect: int = 0) -> dict[str, Any]:
    """What `drift.yaml` does; the changes that it reports, by name, and those that it tolerates under `tolerated`."""
    left_out = [word for kind in SECRET_KINDS for word in ("--exclude", kind)]
    found = physai("preview", "--refresh", "--expect-no-changes", "--json", *left_out, "--as", "reader", *READS,
                   expect=expect).json  # fmt: skip
    reported = {each["name"]: each for each in (*found["drift"], *found["changes"])}
    return reported if expect else {"tolerated": {each["name"] for each in found["readBack"]}}


def test_a_week(deployed: Simulation, tables: Path) -> None:
    physai("up", "--refresh", *READS)
    cluster, path = administrator(deployed), "/api/v1/namespaces/osmo-operator/resourcequotas"
    quota = f"{path}/{cluster.get(path)['items'][0]['metadata']['name']}"

    assert (
        POOL_NAME not in night()["tolerated"]
    )  # what a GET shows besides what was sent: pools of the cluster, categories of a diagnostic setting
    with deployed.azure() as cloud:
        cloud.autoscale(deployed.clusters().ids()[0], "rtxprogpu", 1)
    night()  # counts of the autoscaler

    add(tables / seen.FILE.name, SEEN)
    assert POOL_NAME in night(FINDINGS), "a value that no row tolerates is reported"
    add(tables / tolerated.FILE.name, TOLERATED)
    assert POOL_NAME in night()["tolerated"]  # from now on Azure fills in a value, as a recording has shown

    changed = {"spec": {"hard": dict.fromkeys(cluster.get(quota)["spec"]["hard"], "7")}}
    cluster.patch(quota, changed, MERGE_PATCH, {"fieldManager": "kubectl-edit"})
    assert set(night(FINDINGS)) == {"physical-ai-osmo-operator-gpus-resource-quota"}
    physai("up", "--refresh", *READS)

    [(id_, pool)] = [
        each for each in deployed.cloud_resources().items() if each[0].endswith("/agentPools/h100gpu")
    ]  # fmt: skip
    assert pool["type"] == POOL
    with deployed.azure() as cloud:
        cloud.put("AgentPool", {**pool["inputs"], "tags": {"by": "hand"}})
    assert POOL_NAME in night(FINDINGS), id_
    with deployed.azure() as cloud:
        cloud.put("AgentPool", pool["inputs"])

    cluster.request("DELETE", "/api/v1/namespaces/gpu-operator/serviceaccounts/gpu-grid-driver-installer")
    assert night(FINDINGS)["physical-ai-grid-driver-service-account"]["op"] in ("create", "delete")
    physai("up", "--refresh", *READS)
    night()
