"""Values of charts written as settings, in a file or by a command: the text says where they belong."""

from __future__ import annotations

import pytest

from physical_ai.settings import Overlay, SettingsError, load
from tests.support.cases import in_one_test


@in_one_test(
    ("assignment", "file"),
    [
        ("gpuOperator.nfd={enabled: false}", "values/gpu-operator/values.yaml"),
        ("gpuOperator.values={nfd: {enabled: false}}", "values/gpu-operator/values.yaml"),
        ("gpuOperator.toolkit.enabled=false", "values/gpu-operator/values.yaml"),
        ("nfd={enabled: false}", "values/gpu-operator/values.yaml"),
        ("pools.h100gpu.devicePlugin={flags: {}}", "values/gpu-operator/pools/h100gpu.yaml"),
        ("monitoring.grafana.persistence={enabled: true}", "parts/kube_prometheus/kube-prometheus-stack-values.yaml"),
        ("osmo.gateway={}", "values/osmo/service.yaml"),
        ("osmo.services={backendWorker: {}}", "values/osmo/service.yaml"),
        ("health.janitor={}", "parts/nvsentinel/nvsentinel-values.yaml"),
        ("slurm.nodesets={}", "parts/slurm/slurm-values.yaml"),
    ],
)
def test_a_value_of_a_chart_in_place_of_a_setting_is_told_its_file(assignment: str, file: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load("dev-westus2", [Overlay.assign([assignment])])
    fault = next(each for each in caught.value.faults if "value of a chart" in each.problem)
    assert f"Such values are in {file};" in (fault.fix or "")


def test_a_mistyped_setting_is_still_one() -> None:
    with pytest.raises(SettingsError) as caught:
        load("dev-westus2", [Overlay.assign(["gpuOperator.versoin=v26.7.1"])])
    assert "Did you mean 'version'?" in str(caught.value)
