"""Records of a cluster from a recording correct the rates of `physai goodput`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from physical_ai.readiness import Unreachable
from physical_ai.readiness.answers import Missing
from tests.support.recorded_cluster import recorded
from tests.unit.cli.test_cli_commands import call
from tests.unit.goodput.test_goodput_rates import NODES, repair
from workbench.recordings.writing import write


def test_the_machines_and_repairs_of_a_recording_count(tmp_path: Path) -> None:
    maps = [*NODES, repair("aks-h100gpu-1-vmss000001", 3.0)]
    items = [{**each, "metadata": {**each["metadata"], "namespace": "gpu-operator"}} for each in maps]

    def get(path: str, parameters: Mapping[str, str]) -> Any:
        if "secrets" in path:
            raise Unreachable("403 a recording never has Secrets", 403)
        if path == "/version":
            return {"major": "1", "minor": "36", "gitVersion": "v1.36.3"}
        if not path.startswith("/api/v1/") or path.count("/") > 3:
            raise Missing(path)
        return {"items": json.loads(json.dumps(items if path == "/api/v1/configmaps" else []))}

    write(recorded(get, ()), tmp_path / "it.gz")
    load = "pools.h100gpu.usualLoad={nodes: 4, taskHours: 6}"
    code, out, err = call("goodput", "dev-westus2", "--from", str(tmp_path / "it.gz"), "--set", load, "--json")
    assert code == 0, err
    pool = json.loads(out)["pools"][0]
    assert pool["records"]["machineDays"] == 200
    assert (pool["records"]["repairs"], pool["records"]["repairHours"]) == (1, [3.0])
    (faults,) = (each for each in pool["rates"] if each["name"] == "node-faults")
    assert "repairs in 200 machine-days of this cluster: 1;" in faults["source"]
