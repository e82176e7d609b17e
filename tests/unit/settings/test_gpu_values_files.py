"""Values files of the GPU Operator: what they may set, and mistakes in them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from physical_ai.catalog.compat import check_values
from physical_ai.nested import at
from physical_ai.planning.gpu_operator import POOL_CONFIGS
from physical_ai.planning.osmo_platforms import TASK_TEMPLATE, pod_templates, pools
from physical_ai.planning.plan import make_plan
from physical_ai.settings import SettingsError
from simulator.gpu.workloads import fits
from tests.support.gpu_settings import RTX, given_settings


def env(entries: list[dict[str, str]]) -> dict[str, str]:
    return {entry["name"]: entry["value"] for entry in entries}


Write = Callable[..., Path]


@pytest.fixture
def written(tmp_path: Path) -> Write:
    """Writes files of a `values` folder, and returns the folder."""

    def write(**files: str) -> Path:
        folder = tmp_path / "values" / "gpu-operator"
        (folder / "pools").mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / f"{name.replace('__', '/').replace('_', '-')}.yaml").write_text(text)
        return folder.parent

    return write


def faults(root: Path, *assignments: str) -> list[str]:
    with pytest.raises(SettingsError) as caught:
        make_plan(given_settings(*assignments).settings, root)
    return [str(fault) for fault in caught.value.faults]


# What follows from settings, with the setting to change.
OWNED = [
    ("daemonsets: {tolerations: []}", "daemonsets.tolerations", "pools.<pool>.taints"),
    ("mig: {strategy: none}", "mig.strategy", "gpuOperator.migStrategy"),
    ("driver: {version: 580.65.06}", "driver.version", "gpuOperator.driver.version"),
    ("driver: {nvidiaDriverCRD: {enabled: false}}", "driver.nvidiaDriverCRD", "gpuOperator.driverOwner"),
    ("devicePlugin: {config: {name: mine}}", "devicePlugin.config", "pools.<pool>.sharing"),
    ("cdi: {enabled: false}", "cdi", "gpuOperator.cdi"),
    (
        "toolkit: {env: [{name: RUNTIME_CONFIG_SOURCE, value: command}]}",
        "toolkit.env[0]",
        "gpuOperator.toolkit.runtimeConfigSource",
    ),
]


# Keys that the chart ignores, with the right one.
DEAD = [
    ("v26.7.0", "driver: {tolerations: []}", "driver.tolerations", "daemonsets.tolerations"),
    ("v26.7.0", "devicePlugin: {mps: {root: /run/mps}}", "devicePlugin.mps.root", "leave the key out"),
    ("v26.7.0", "driver: {repository: x}", "driver.repository", "pools.<pool>.driver"),
    ("v26.3.3", "operator: {initContainer: {image: x}}", "operator.initContainer", "no longer exists"),
    ("v26.7.0", "dcgmExporter: {servicemonitor: {enabled: true}}", "dcgmExporter.servicemonitor", "serviceMonitor"),
]


# Mistakes in other files.
POOLS = [
    ("pools__h100gpu", "drivers: {}", "drivers", "Did you mean 'driver'?"),
    ("pools__h100gpu", "driver: {upgradePolicy: {drains: {}}}", "driver.upgradePolicy.drains", "drain"),
    ("pools__h100gpu", "driver: {imag: x}", "driver.imag", "Did you mean image?"),
    ("pools__h100gpu", "driver: {tolerations: []}", "driver.tolerations", "pools.<pool>.taints"),
    ("pools__h100gpu", "driver: {nodeSelector: {a: b}}", "driver.nodeSelector", "pools.<pool>.driver.source"),
    ("pools__h100gpu", "driver: 3", "driver", "section"),
    ("pools__rtxprogpu", "devicePlugin: {sharing: {}}", "devicePlugin.sharing", "pools.<pool>.sharing"),
    ("pools__rtxprogpu", "devicePlugin: {flags: {migStrategy: none}}", "devicePlugin.flags.migStrategy", "overrides"),
    ("pools__rtxprogpu", "devicePlugin: {flags: {gsd: true}}", "devicePlugin.flags.gsd", "gdsEnabled"),
    (
        "nvidia_driver",
        "upgradePolicy: {waitForCompletion: {podSelector: a=b}}",
        "upgradePolicy.waitForCompletion.podSelector",
        "physical-ai/finish-before-driver-upgrade=true",
    ),
    ("nvidia_driver", "version: 1", "version", "gpuOperator.driver.version"),
    ("nvidia_driver", "default: true", "default", "pools.<pool>.driver.source"),
]


MISTAKES = [
    *((("values", "v26.7.0"), *row) for row in OWNED),
    *((("values", release), *row) for release, *row in DEAD),
    *(((file, "v26.7.0"), *row) for file, *row in POOLS),
]


@pytest.mark.parametrize(("of", "text", "path", "expected"), MISTAKES)
def test_a_mistake_is_refused_with_its_file_line_and_path_and_what_to_write(
    written: Write, of: tuple[str, str], text: str, path: str, expected: str
) -> None:
    file, release = of
    (fault,) = faults(written(**{file: f"# a comment\n\n{text}\n"}), f"gpuOperator.version={release}")
    name = file.replace("__", "/").replace("_", "-")
    assert fault.startswith(f"values/gpu-operator/{name}.yaml:3: {path}\n")
    assert expected in fault


def test_a_pools_file_changes_its_own_driver_only(written: Write) -> None:
    a100 = "pools.a100gpu={sku: Standard_NC24ads_A100_v4, driver: {source: operator}, subnet: 10.40.3.0/26, "
    root = written(pools__h100gpu="driver: {upgradePolicy: {waitForCompletion: {timeoutSeconds: 60}}}")
    plan = make_plan(given_settings(a100 + "scale: {count: 1}, osDisk: {type: Managed}}").settings, root).gpu
    waits = {pool: driver.spec["upgradePolicy"]["waitForCompletion"] for pool, driver in plan.drivers.items()}
    selector = {"podSelector": "physical-ai/finish-before-driver-upgrade=true"}
    assert waits == {"h100gpu": {**selector, "timeoutSeconds": 60}, "a100gpu": selector}


def test_fields_that_only_newer_releases_have_are_left_out_with_a_warning(written: Write) -> None:
    text = "driver: {upgradePolicy: {maxParallelUpgrades: 2}}"
    found = make_plan(given_settings("gpuOperator.version=v26.3.3").settings, written(values=text, pools__h100gpu=text))
    assert "upgradePolicy" not in found.gpu.drivers["h100gpu"].spec
    assert at(found.gpu.values, "driver.upgradePolicy.maxParallelUpgrades") == 2
    (warning,) = found.warnings
    assert (warning.where, warning.file) == ("driver.upgradePolicy", "values/gpu-operator/pools/h100gpu.yaml")
    assert "v26.7.0" in str(warning.fix)


@pytest.mark.parametrize("owner", ["NVIDIADriver", "ClusterPolicy"])
@pytest.mark.parametrize("release", ["v25.3.4", "v26.7.1"])
def test_another_driver_waits_for_the_tasks_of_workflows(release: str, owner: str) -> None:
    """They are Pods without a controller: the operator does not delete them, and gives up instead."""
    settings = given_settings(f"gpuOperator.version={release}", f"gpuOperator.driverOwner={owner}").settings
    plan = make_plan(settings).gpu
    policies = [at(plan.values, "driver.upgradePolicy", {})]
    policies += [each.spec["upgradePolicy"] for each in plan.drivers.values() if release == "v26.7.1"]
    task = pod_templates(settings)[TASK_TEMPLATE]["metadata"]["labels"]
    assert all(pool["common_pod_template"][-1] == TASK_TEMPLATE for pool in pools(settings).values())
    for policy in policies:
        assert policy["waitForCompletion"]["timeoutSeconds"] == 0, "a task ends at its own timeout"
        assert fits(policy["waitForCompletion"]["podSelector"], task)


def test_driver_fields_for_a_pool_without_an_operator_driver_do_nothing_and_report_it(written: Write) -> None:
    found = make_plan(given_settings().settings, written(pools__rtxprogpu="driver: {env: [{name: A, value: b}]}"))
    (warning,) = found.warnings
    assert warning.where == "driver"
    assert "'grid'" in warning.problem
    assert set(found.gpu.drivers) == {"h100gpu"}


def test_a_file_for_an_unknown_pool_is_a_mistake_and_one_for_a_pool_of_another_stack_is_not(written: Write) -> None:
    (fault,) = faults(written(pools__h10gpu="{}"))
    assert fault.startswith("values/gpu-operator/pools/h10gpu.yaml: (file)\n")
    assert "Did you mean h100gpu.yaml?" in fault
    a10 = written(pools__a10gpu="devicePlugin: {flags: {gdsEnabled: true}}")
    (a10 / "gpu-operator/pools/h10gpu.yaml").unlink()
    assert make_plan(given_settings().settings, a10).warnings == ()


def test_a_file_that_is_no_yaml_or_has_another_name_is_reported(written: Write) -> None:
    root = written(values="a: }", pools__h100gpu="- x")
    (root / "gpu-operator/pools/h100gpu.yml").write_text("")
    reported = faults(root)
    assert [text.partition(": ")[0] for text in reported] == [
        "values/gpu-operator/values.yaml:1",
        "values/gpu-operator/pools/h100gpu.yaml:1",
        "values/gpu-operator/pools/h100gpu.yml",
    ]


def test_no_file_at_all_is_fine(tmp_path: Path) -> None:
    found = make_plan(given_settings().settings, tmp_path).gpu
    assert found.drivers["h100gpu"].spec["version"] == "580.173.02"
    assert check_values("v26.7.0", found.values) == []


def test_flags_that_a_pools_file_may_set_reach_its_configuration(written: Write) -> None:
    root = written(pools__rtxprogpu="devicePlugin: {flags: {gdsEnabled: true}}")
    found = make_plan(given_settings(f"{RTX}.sharing={{timeSlicing: {{replicas: 2}}}}").settings, root).gpu
    config = yaml.safe_load(found.config_maps[POOL_CONFIGS]["rtxprogpu"])
    assert config["flags"] == {"gdsEnabled": True}
    assert set(config["sharing"]) == {"timeSlicing"}


def test_environment_of_the_file_and_of_the_program_are_combined(written: Write) -> None:
    root = written(values="toolkit: {env: [{name: CONTAINERD_SOCKET, value: /x.sock}]}")
    found = make_plan(given_settings().settings, root).gpu
    assert env(at(found.values, "toolkit.env")) == {"CONTAINERD_SOCKET": "/x.sock", "RUNTIME_CONFIG_SOURCE": "file"}


@pytest.mark.parametrize("text", ["daemonsets: 3", "devicePlugin: plain", "node-feature-discovery: []"])
def test_a_value_where_a_section_belongs_is_refused_also_where_the_program_writes_one(
    written: Write, text: str
) -> None:
    [fault] = faults(written(values=text))
    assert text.partition(":")[0] in fault
    assert "section" in fault
