"""OSMO's data services in the cluster: volumes, a workflow, snapshots by their program's account, the way back."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from data_snapshots import __main__ as program
from parts.in_cluster_data import names as in_cluster
from parts.in_cluster_data.plan import SNAPSHOTS
from physical_ai.catalog.osmo import CONTROL_NAMESPACE
from simulator.kubernetes import ApiError, Client
from simulator.osmo.service import as_account
from simulator.simulation import Simulation
from tests.simulator.killed_install import administrator
from tests.simulator.physai import physai
from tests.simulator.test_osmo_platform import PLATFORM, STACK, Json
from tests.support.paths import SAMPLES

CLAIMS = f"/api/v1/namespaces/{CONTROL_NAMESPACE}/persistentvolumeclaims"
SERVICES = (in_cluster.POSTGRES, in_cluster.CACHE, in_cluster.STORAGE)


@pytest.mark.deep
def test_a_platform_stores_its_data_in_the_cluster_and_goes_back_to_a_snapshot(
    deployed: Simulation, tmp_path: Path
) -> None:
    overlay = tmp_path / "platform.yaml"
    overlay.write_text(yaml.safe_dump({**PLATFORM, "dataServices": {"source": "inCluster"}}))
    physai("up", STACK, "-f", str(overlay))
    admin = administrator(deployed)
    first = claims(admin)
    assert set(first) == set(SERVICES)
    assert set(first.values()) == {"Bound"}
    assert "COMPLETED" in physai("run", str(SAMPLES / "cpu-task.yaml")).out

    moment = snapshots(admin)
    restored = ("--set", f"dataServices.inCluster.restores=['{moment}']")
    physai("up", STACK, "-f", str(overlay), *restored)
    after = claims(admin)
    assert first.keys() < after.keys()
    assert len(after) == 2 * len(SERVICES)
    assert set(after.values()) == {"Bound"}
    physai("preview", STACK, "-f", str(overlay), *restored, "--expect-no-changes")
    assert "COMPLETED" in physai("run", str(SAMPLES / "cpu-task.yaml")).out


def claims(client: Client) -> dict[str, str]:
    """Phases by name."""
    found: list[Json] = client.get(CLAIMS)["items"]
    return {each["metadata"]["name"]: each["status"]["phase"] for each in found}


def snapshots(admin: Client) -> str:
    """Runs the program as its CronJob does; the time that the snapshots have in their names."""
    job: Json = admin.get(f"/apis/batch/v1/namespaces/{CONTROL_NAMESPACE}/cronjobs/{SNAPSHOTS}")
    pod = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    own = as_account(admin, CONTROL_NAMESPACE, pod["serviceAccountName"])
    with pytest.raises(ApiError):
        own.request("GET", f"/api/v1/namespaces/{CONTROL_NAMESPACE}/secrets")
    assert program.main(pod["containers"][0]["args"], own) == 0
    path = f"/apis/{in_cluster.SNAPSHOT_API}/v1/namespaces/{CONTROL_NAMESPACE}/volumesnapshots"
    taken: list[Json] = admin.get(path)["items"]
    assert len(taken) == len(SERVICES)
    (moment,) = {"-".join(each["metadata"]["name"].rsplit("-", 2)[1:]) for each in taken}
    return moment
