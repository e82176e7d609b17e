"""Values of the GPU Operator chart: keys it renders, keys it ignores, and where the latter belong."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from physical_ai.catalog import UnknownName
from physical_ai.catalog.compat import check_values, known_keys
from physical_ai.catalog.compat.tables import switches
from physical_ai.findings import Finding
from tests.support.cases import in_one_test
from tests.support.examples import examples

READ = ("v25.3.4", "v25.10.1", "v26.3.3", "v26.7.0")
OWN_DRIVERS = {"enabled": True, "deployDefaultCR": False}


def nested(path: str, value: Any = "x") -> dict[str, Any]:
    """Values with one key set."""
    for step in reversed(path.split(".")):
        value = {step: value}
    return value


def fitting(release: str, path: str) -> Any:
    """A value of the shape that a key has."""
    if path in switches("gpu-operator"):
        return True
    return {"list": [], "map": {"free": {"below": 1}}}.get(known_keys(release).get(path, ""))


def only(release: str, values: dict[str, Any]) -> Finding:
    (finding,) = check_values(release, values)
    return finding


GOOD: dict[str, Any] = {
    "cdi": {"enabled": True},
    "daemonsets": {
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
        "labels": {"example.com/team": "a"},
        "annotations": {"any.thing/here": "b"},
    },
    "driver": {"nvidiaDriverCRD": OWN_DRIVERS, "upgradePolicy": {"maxParallelUpgrades": 1}},
    "toolkit": {"env": [{"name": "RUNTIME_CONFIG_SOURCE", "value": "file"}], "resources": {"limits": {"odd": 1}}},
    "mig": {"strategy": "single"},
    "devicePlugin": {"config": {"create": False, "name": "configs", "default": "default"}},
    "validator": {"plugin": {"env": []}, "driver": {"env": []}},
    "operator": {"nodeSelector": {"a/b": "c"}, "affinity": {"nodeAffinity": {}}, "resources": {}},
    "node-feature-discovery": {"worker": {"tolerations": [], "config": {"sources": {"custom": []}}}},
}


@pytest.mark.parametrize("release", READ)
def test_good_values_have_no_findings(release: str) -> None:
    assert check_values(release, GOOD) == []


DEAD = [
    ("v26.7.0", "driver.tolerations", "chart-key-dead", "daemonsets.tolerations"),
    ("v26.7.0", "toolkit.tolerations", "chart-key-dead", "daemonsets.tolerations"),
    ("v26.3.3", "gfd.tolerations", "chart-key-dead", "daemonsets.tolerations"),
    ("v26.7.0", "tolerations", "chart-key-dead", "daemonsets.tolerations"),
    ("v26.7.0", "validator.enabled", "chart-key-dead", "leave the key out"),
    ("v25.3.4", "devicePlugin.mps.root", "chart-key-dead", "/run/nvidia/mps"),
    ("v26.7.0", "devicePlugin.mps.root", "chart-key-dead", "/run/nvidia/mps"),
    ("v25.3.4", "operator.defaultGPUMode", "chart-key-dead", "has no such field"),
    ("v26.7.0", "operator.defaultGPUMode", "chart-key-dead", "has no such field"),
    ("v26.7.0", "driver.nvidiaDriverCRD.nodeSelector", "chart-key-dead", "spec.nodeSelector"),
    ("v25.3.4", "ccManager.env", "chart-key-dead", "out"),
    ("v26.7.0", "nfd.worker.tolerations", "chart-key-dead", "node-feature-discovery.worker"),
    ("v26.7.0", "migStrategy", "chart-key-dead", "mig.strategy"),
    ("v26.7.0", "driver.useOpenKernelModules", "chart-key-dead", "driver.kernelModuleType"),
    ("v25.10.1", "cdi.default", "chart-key-removed", "cdi.enabled"),
    ("v26.3.3", "operator.initContainer.image", "chart-key-removed", "out"),
    ("v26.3.0", "operator.initContainer.image", "chart-key-removed", "out"),
    ("v25.10.1", "driver.licensingConfig.configMapName", "chart-key-renamed", "driver.licensingConfig.secretName"),
    ("v25.3.4", "cdi.nriPluginEnabled", "chart-key-other-release", "upgrade"),
    ("v25.3.4", "driver.licensingConfig.secretName", "chart-key-other-release", "upgrade"),
    ("v26.3.3", "gpuCluster.deployCR", "chart-key-other-release", "upgrade"),
    ("v26.7.0", "driver.evn", "chart-key-unknown", "driver.env"),
    ("v26.7.0", "toolkt.env", "chart-key-unknown", "toolkit"),
    ("v26.7.0", "mig.stratgy", "chart-key-unknown", "mig.strategy"),
    ("v26.7.0", "driver.upgradePolicy.maxParallelUpgrade", "chart-key-unknown", "maxParallelUpgrades"),
    ("v26.7.0", "nriPluginEnabled", "chart-key-unknown", "cdi.nriPluginEnabled"),
    ("v26.7.0", "node-feature-discovery.worker.toleration", "chart-key-unverified", "worker.tolerations"),
]


@in_one_test(("release", "path", "rule", "place"), DEAD)
def test_a_key_without_effect_is_reported_with_the_right_path(release: str, path: str, rule: str, place: str) -> None:
    finding = only(release, nested(path))
    assert path == finding.where or path.startswith(f"{finding.where}.")
    assert finding.rule == rule
    assert place in (finding.fix or "")
    assert finding.severity == ("warning" if rule in ("chart-key-renamed", "chart-key-unverified") else "error")
    assert finding.source


@pytest.mark.parametrize(
    ("release", "path"),
    [
        ("v25.3.4", "cdi.default"),
        ("v25.3.4", "driver.licensingConfig.configMapName"),
        ("v25.10.1", "operator.initContainer.image"),
        ("v25.10.1", "ccManager.env"),
        ("v26.3.3", "driver.nvidiaDriverCRD.nodeSelector"),
        ("v26.3.0", "cdi.nriPluginEnabled"),
        ("v26.7.0", "driver.version"),
        ("v26.7.1", "gpuCluster.deployCR"),
    ],
)
def test_the_same_key_is_right_where_the_release_renders_it(release: str, path: str) -> None:
    assert [
        f for f in check_values(release, nested(path, fitting(release, path))) if f.rule.startswith("chart-key")
    ] == []


def test_driver_values_are_dead_once_drivers_are_resources() -> None:
    values = {"driver": {"nvidiaDriverCRD": OWN_DRIVERS, "version": "580.173.02", "kernelModuleType": "open"}}
    findings = check_values("v26.7.0", values)
    assert {f.where for f in findings} == {"driver.version", "driver.kernelModuleType"}
    assert all("NVIDIADriver" in (f.fix or "") for f in findings)
    assert check_values("v26.3.3", values) == []


def test_a_value_of_the_wrong_shape_is_reported() -> None:
    assert only("v26.7.0", {"driver": False}).rule == "chart-key-shape"
    assert only("v26.7.0", {"mig": {"strategy": {"h100": "mixed"}}}).rule == "chart-key-shape"


@in_one_test(
    ("values", "rule", "fix"),
    [
        ({"validator": {"plugin": None}}, "chart-null", "Leave validator.plugin out"),
        ({"nfd": None}, "chart-null", "enabled"),
        ({"nfd": {"enabled": None}}, "chart-null", "true or false"),
        ({"nfd": {"enabled": "false"}}, "chart-key-shape", "nfd.enabled: false"),
        ({"nfd": {"enabled": "True"}}, "chart-key-shape", "nfd.enabled: true"),
        ({"nfd": {"enabled": "no"}}, "chart-key-shape", "nfd.enabled: false"),
        ({"nfd": {"enabled": 0}}, "chart-key-shape", "true or false"),
        ({"nfd": {"enabled": []}}, "chart-key-shape", "true or false"),
        ({"nfd": []}, "chart-key-shape", "Keys it has"),
        ({"nfd": False}, "chart-key-shape", "Keys it has"),
        ({"toolkit": {"env": {"A": "b"}}}, "chart-key-shape", "toolkit.env: ["),
        ({"daemonsets": {"labels": ["a"]}}, "chart-key-shape", "daemonsets.labels: {"),
        ({"toolkit": {"env": [{"name": "A", "value": True}]}}, "chart-key-shape", 'value: "true"'),
        ({"toolkit": {"env": [{"name": "A", "value": 1}]}}, "chart-key-shape", 'value: "1"'),
        ({"toolkit": {"env": ["A=b"]}}, "chart-key-shape", "name"),
        ({"daemonsets": {"tolerations": "all"}}, "chart-key-shape", "daemonsets.tolerations: ["),
    ],
)
def test_null_texts_lists_and_maps_in_the_wrong_place_are_refused(values: dict[str, Any], rule: str, fix: str) -> None:
    finding = only("v26.7.0", values)
    assert (finding.rule, finding.severity) == (rule, "error")
    assert fix in (finding.fix or "")


def test_null_for_a_list_or_a_map_and_an_empty_section_change_nothing_that_is_needed() -> None:
    values = {"toolkit": {"env": None, "resources": {}}, "driver": {}, "daemonsets": {"labels": None}}
    assert check_values("v26.7.0", values) == []


VALUES: list[tuple[str, dict[str, Any], str, str]] = [
    ("v26.7.0", {"cdi": {"enabled": False, "nriPluginEnabled": True}}, "nri-without-cdi", "cdi.enabled: true"),
    ("v26.7.0", {"mig": {"strategy": "mixd"}}, "chart-value", "mixed"),
    ("v26.7.0", {"driver": {"kernelModuleType": "opened"}}, "chart-value", "open"),
    ("v26.3.3", {"driver": {"nvidiaDriverCRD": {"enabled": True}}}, "chart-default-driver", "deployDefaultCR: false"),
    ("v26.7.0", {"mig": {"strategy": ""}}, "chart-null", "Leave it so with Pulumi or helm"),
    ("v26.7.0", {"gpuCluster": {"deployCR": True}}, "chart-two-owners", "clusterPolicy.deployCR: false"),
    ("v26.7.0", {"devicePlugin": {"config": {"create": True, "name": "a"}}}, "chart-empty-config", "data"),
    (
        "v26.7.0",
        nested("node-feature-discovery.worker.config.sources.pci.deviceClassWhitelist", ["02", "0300"]),
        "nfd-classes",
        "'0302'",
    ),
    (
        "v26.7.0",
        nested("node-feature-discovery.worker.config.sources.pci.deviceLabelFields", ["vendor", "device"]),
        "nfd-label-fields",
        "[vendor]",
    ),
]


@in_one_test(("release", "values", "rule", "fix"), VALUES)
def test_a_value_that_the_chart_or_the_operator_cannot_take(
    release: str, values: dict[str, Any], rule: str, fix: str
) -> None:
    finding = only(release, values)
    assert finding.rule == rule
    assert fix in (finding.fix or "")


def test_the_default_driver_is_a_conflict_before_26_7_and_a_surprise_since() -> None:
    values = {"driver": {"nvidiaDriverCRD": {"enabled": True}}}
    assert only("v26.3.3", values).severity == "error"
    assert only("v26.7.0", values).severity == "warning"


def test_an_unknown_release_is_refused() -> None:
    with pytest.raises(UnknownName):
        check_values("v1.0.0", {})


_OF_VALUES = ("chart-two-owners", "chart-empty-config", "chart-default-driver", "nri-without-cdi")
"""Rules about switches that are on."""
quick = examples(150)


@quick
@given(st.sampled_from(READ), st.data())
def test_every_known_key_passes_unless_a_note_is_against_it(release: str, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(sorted(known_keys(release))))
    rules = {finding.rule for finding in check_values(release, nested(path, fitting(release, path)))}
    assert rules <= {"chart-key-dead", *_OF_VALUES}


junk = st.recursive(
    st.one_of(st.none(), st.booleans(), st.text(max_size=6)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2),
        st.dictionaries(
            st.one_of(st.text(max_size=6), st.sampled_from(["driver", "mig", "env", "toolkit", "config", "nfd"])),
            inner,
            max_size=3,
        ),
    ),
    max_leaves=6,
)


@quick
@given(st.sampled_from(READ), st.dictionaries(st.sampled_from(["driver", "x", "mig", "nfd", "operator"]), junk))
def test_any_values_are_judged_and_every_finding_names_path_and_rule(release: str, values: dict[str, Any]) -> None:
    for finding in check_values(release, values):
        assert finding.where
        assert finding.rule
        assert finding.problem.endswith(".")
        assert finding.source
