"""The chart models of Longhorn and MetalLB, rendered by the real helm with the program's values."""

from __future__ import annotations

import pytest
import yaml

from physical_ai.catalog.charts import newest_chart
from physical_ai.settings import Overlay, load
from simulator.charts import materialise
from simulator.charts.crds import definitions
from simulator.home import Home
from tests.support.charts import Refused, run


def test_the_models_take_the_program_s_values_and_refuse_others() -> None:
    given = {
        "storage": {"longhorn": {"defaultClass": False, "replicas": 2}},
        "loadBalancer": {"metallb": {"addresses": ["192.168.7.0/28"]}},
    }
    for plan in load("dev-westus2", [Overlay("--set", given)]).plan.parts["cluster_services"].releases:
        folder = materialise(plan.chart.name, plan.chart.version, Home.of_user().folder / "chart-models")
        command = ("template", plan.name, str(folder), "--namespace", plan.namespace)
        objects = [each for each in yaml.safe_load_all(run(*command, values=plan.values)) if each]
        kinds = {(each["kind"], each["metadata"]["name"]): each for each in objects}
        if plan.name == "longhorn":
            storage = kinds["StorageClass", "longhorn"]
            assert storage["parameters"]["numberOfReplicas"] == "2"
            assert storage["metadata"]["annotations"]["storageclass.kubernetes.io/is-default-class"] == "false"
            text = kinds["ConfigMap", "longhorn-default-setting"]["data"]["default-setting.yaml"]
            assert "create-default-disk-labeled-nodes: true" in text
            assert "deleting-confirmation-flag: false" in text
        else:
            assert ("DaemonSet", "metallb-speaker") in kinds
            made = {each["spec"]["names"]["kind"] for each in definitions("metallb", newest_chart("metallb").version)}
            assert made == {each["kind"] for each in plan.objects}
        with pytest.raises(Refused, match=r"additional properties|Additional property"):
            run(*command, values={**plan.values, "unknownKey": True})
