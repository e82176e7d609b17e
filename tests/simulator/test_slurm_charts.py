"""The chart models of Slurm's operator and cluster, rendered by the real helm with the program's values."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import yaml

from physical_ai.catalog.charts import newest_chart
from physical_ai.settings import Overlay, load
from simulator.charts import materialise
from simulator.charts.crds import definitions
from simulator.home import Home
from tests.support.charts import Refused, run
from tests.unit.parts.slurm.test_settings_slurm import KEY, given


def rendered(chart: str, values: Any, namespace: str) -> dict[tuple[str, str], dict[str, Any]]:
    folder = materialise(chart, newest_chart(chart).version, Home.of_user().folder / "chart-models")
    text = run("template", chart, str(folder), "--namespace", namespace, values=values)
    objects = [each for each in yaml.safe_load_all(text) if each]
    return {(each["kind"], each["metadata"]["name"]): each for each in objects}


def test_the_models_take_the_program_s_values_and_refuse_others() -> None:
    plan = load("dev-westus2", [Overlay("--set", given(login={"sshKeys": [KEY]}))]).plan.parts["slurm"]
    of_operator, of_cluster = (plan.release(key).values for key in ("operator", "cluster"))
    operator = rendered("slurm-operator", of_operator, "slinky")
    container = operator["Deployment", "slurm-operator"]["spec"]["template"]["spec"]["containers"][0]
    assert "--namespaces=slurm" in container["args"]
    assert "--propagated-node-conditions=GpuMemWatch" in container["args"]
    cluster = rendered("slurm", of_cluster, "slurm")
    kinds = {kind for kind, _ in cluster}
    assert kinds - {"ConfigMap"} == {
        each["spec"]["names"]["kind"] for each in definitions("slurm-operator", newest_chart("slurm-operator").version)
    }
    nodes = cluster["NodeSet", "slurm-worker-h100gpu"]["spec"]
    assert (nodes["scalingMode"], nodes["extraConf"]) == ("DaemonSet", "Features=h100gpu Gres=gpu:1")
    assert ("NodeSet", "slurm-worker-slinky") not in cluster
    lines = cluster["Controller", "slurm"]["spec"]["extraConf"].split("\n")
    assert "GresTypes=gpu" in lines
    assert "PartitionName=h100gpu Nodes=h100gpu Default=YES MaxTime=7-00:00:00 State=UP" in lines
    for chart, values in (("slurm-operator", of_operator), ("slurm", of_cluster)):
        with pytest.raises(Refused, match=r"additional properties|Additional property"):
            rendered(chart, {**values, "unknownKey": True}, "slurm")
    with pytest.raises(Refused, match=r"cert-manager.io/v1"):
        rendered("slurm-operator", {**of_operator, "certManager": {"enabled": True}}, "slinky")
    reserved = {**of_cluster, "configFiles": {"slurm.conf": "SlurmUser=root"}}
    with pytest.raises(Refused, match=r"reserved for slurm-operator use: slurm\.conf"):
        rendered("slurm", reserved, "slurm")
    strange = copy.deepcopy(dict(of_cluster))
    strange["partitions"]["h100gpu"]["nodesets"] = ["nowhere"]
    with pytest.raises(Refused, match="names the NodeSet nowhere"):
        rendered("slurm", strange, "slurm")
