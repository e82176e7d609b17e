"""What the program sets in the values of charts, and what a file may not set, for every chart."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from parts.registry import PARTS
from physical_ai.catalog.charts import pinned_charts
from physical_ai.catalog.compat import known_keys
from physical_ai.catalog.compat.needs import JOINED, pattern
from physical_ai.catalog.compat.tables import key_table as table_of
from physical_ai.catalog.compat.tables import switches
from physical_ai.planning.chart_values import Owned, instead, units
from physical_ai.planning.owned_values import NVIDIA_DRIVER, OWNED_VALUES
from physical_ai.planning.plan import make_plan
from physical_ai.settings import SettingsError
from physical_ai.settings.json_schema import layer_schema
from tests.support.cases import in_one_test
from tests.support.covering_stacks import covering, derived, plan_without_files

CHARTS = sorted(OWNED_VALUES.keys() - {NVIDIA_DRIVER})
FILES = {
    "backend-operator": "osmo/backend-operator.yaml",
    "service": "osmo/service.yaml",
    **{chart: f"{part.name}/{chart}-values.yaml" for part in PARTS for chart in part.charts},
}
CHARTS_OWN = ("progress-files", "/var/run/osmo")
"""A volume of the chart, which a list of volumes has to repeat: a file may have the same entry."""


def known(chart: str) -> Mapping[str, str]:
    """The keys of all pinned versions of a chart."""
    versions = [version for name, version in pinned_charts() if name == chart and not version.startswith("v0.20")]
    tables = [known_keys(each) if chart == "gpu-operator" else table_of(chart, each).known for each in versions]
    return {path: kind for table in tables for path, kind in table.items()}


def test_the_stacks_of_these_tests_install_every_chart_that_is_pinned() -> None:
    assert {name for name, _ in pinned_charts()} == set(CHARTS) == set(derived())


@in_one_test("chart", CHARTS)
def test_whatever_the_program_sets_on_some_stack_is_in_the_table_of_owners(chart: str) -> None:
    """So that a file which one stack refuses is refused by all, with the setting to change."""
    owned = Owned(OWNED_VALUES[chart])
    paths = {path for _, values in derived()[chart] for path in units(values) if not path.endswith(CHARTS_OWN)}
    assert [path for path in sorted(paths) if owned.owner_of_any(path) is None] == []


def nested(path: str, value: Any) -> dict[str, Any]:
    """Values with one key, whose steps may contain dots themselves."""
    steps = path if isinstance(path, tuple) else tuple(path.split("."))
    for step in reversed(steps):
        value = {step: value}
    return value


def leaves(values: Mapping[str, Any], *path: str) -> list[tuple[tuple[str, ...], Any]]:
    found: list[tuple[tuple[str, ...], Any]] = []
    for key, value in values.items():
        here = (*path, key)
        if isinstance(value, Mapping) and value:
            found += leaves(value, *here)
        elif key not in JOINED:
            found.append((here, value))
    return found


def written(folder: Path, chart: str, data: Any) -> Path:
    file = folder / "values" / FILES.get(chart, f"{chart}/values.yaml")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(yaml.safe_dump(data))
    return folder / "values"


@pytest.mark.parametrize("chart", CHARTS)
def test_no_value_that_the_program_sets_is_replaced_or_merged_silently(tmp_path: Path, chart: str) -> None:
    """Every leaf of every stack, written with another value into the chart's file: each is refused, at its path."""
    settings, values = max(derived()[chart], key=lambda each: len(leaves(each[1])))
    data: dict[str, Any] = {}
    for path, _ in leaves(values):
        here = data
        for step in path[:-1]:
            here = here.setdefault(step, {})
        here[path[-1]] = "mine"
    with pytest.raises(SettingsError) as caught:
        make_plan(settings, written(tmp_path, chart, data))
    refused = [fault.where for fault in caught.value.faults if "The program sets" in fault.problem]
    texts = {re.sub(r'\["?|"?\]', ".", where).replace("..", ".").strip(".") for where in refused}
    for path, _ in leaves(values):
        text = ".".join(path)
        assert any(text == each or text.startswith(f"{each}.") for each in texts), text


@pytest.mark.parametrize(
    ("chart", "text", "where"),
    [
        ("gpu-operator", "operator: {nodeSelector: {disk: fast}}", "operator.nodeSelector"),
        ("gpu-operator", "operator: {tolerations: [{key: a, operator: Exists}]}", "operator.tolerations"),
        ("gpu-operator", "operator: {affinity: {nodeAffinity: {}}}", "operator.affinity.nodeAffinity"),
        ("kube-prometheus-stack", "grafana: {nodeSelector: {disk: fast}}", "grafana.nodeSelector"),
        ("kube-prometheus-stack", "fullnameOverride: mine", "fullnameOverride"),
        ("cert-manager", "webhook: {nodeSelector: {disk: fast}}", "webhook.nodeSelector"),
        ("gha-runner-scale-set-controller", "securityContext: {runAsUser: 0}", "securityContext"),
        ("service", "services: {router: {hostname: other.com}}", "services.router.hostname"),
        ("service", "services: {agent: {tolerations: []}}", "services.agent.tolerations"),
        ("slurm", "controller: {slurmctld: {image: {tag: x}}}", "controller.slurmctld.image"),
        ("nvsentinel", "node-drainer: {clientCertMountPath: /x}", "node-drainer.clientCertMountPath"),
    ],
)
def test_what_was_replaced_silently_is_refused_with_what_to_change(
    tmp_path: Path, chart: str, text: str, where: str
) -> None:
    settings = derived()[chart][-1][0]
    with pytest.raises(SettingsError) as caught:
        make_plan(settings, written(tmp_path, chart, yaml.safe_load(text)))
    (fault,) = caught.value.faults
    assert fault.where == where
    assert fault.line is not None
    assert (fault.fix or "").startswith(("Set ", "Leave it out: "))


def test_lists_of_named_entries_are_joined_and_an_entry_of_the_programs_is_refused(tmp_path: Path) -> None:
    settings = derived()["service"][0][0]
    mine = {"name": "HTTPS_PROXY", "value": "http://proxy:3128"}
    release = make_plan(settings, written(tmp_path, "service", nested("services.agent.extraEnv", [mine]))).control_plane
    alone = plan_without_files(settings).control_plane
    assert release is not None
    assert alone is not None
    assert release.values["services"]["agent"]["extraEnv"] == [mine, *alone.values["services"]["agent"]["extraEnv"]]
    own = nested("services.agent.extraEnv", [mine, {"name": "OSMO_MEK_FILE", "value": "/x"}])
    with pytest.raises(SettingsError) as caught:
        make_plan(settings, written(tmp_path, "service", own))
    (fault,) = caught.value.faults
    assert fault.where == "services.agent.extraEnv[1]"


@in_one_test("chart", sorted(OWNED_VALUES))
def test_every_owner_is_a_setting_of_the_schema_a_file_of_the_program_or_nothing(chart: str) -> None:
    schema = layer_schema()
    for path, owner in OWNED_VALUES[chart].items():
        if owner.startswith(("nothing: ", "the ")):
            continue
        for name in re.findall(r"[a-z][A-Za-z]*(?:\.(?:<\w+>|[A-Za-z]+))*(?=,| or | and |:|$| )", owner):
            if name.split(".")[0] in schema["properties"]:
                assert in_schema(schema, schema, name.split(".")), (path, name)
                break
        else:
            raise AssertionError(f"{chart}: {path}: no setting is named in {owner!r}")


def in_schema(root: Mapping[str, Any], node: Mapping[str, Any], steps: list[str]) -> bool:
    if not steps:
        return True
    for each in alternatives(root, node):
        step = steps[0]
        inner = each.get("additionalProperties") if step.startswith("<") else each.get("properties", {}).get(step)
        inner = inner or (
            next(iter(each.get("patternProperties", {}).values()), None) if step.startswith("<") else None
        )
        if isinstance(inner, Mapping) and in_schema(root, inner, steps[1:]):
            return True
    return False


def alternatives(root: Mapping[str, Any], node: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found = [node]
    if "$ref" in node:
        here: Any = root
        for step in node["$ref"].removeprefix("#/").split("/"):
            here = here[step]
        found += alternatives(root, here)
    for key in ("anyOf", "oneOf", "allOf"):
        for each in node.get(key, ()):
            found += alternatives(root, each)
    return found


@in_one_test("chart", CHARTS)
def test_every_switch_is_a_key_of_the_chart(chart: str) -> None:
    assert switches(chart) <= known(chart).keys()


def test_the_advice_about_an_owned_key_is_a_sentence() -> None:
    assert instead("nothing: a drain waits") == "Leave it out: a drain waits."
    assert instead("cpuPool") == "Set cpuPool instead."


@in_one_test("chart", sorted(OWNED_VALUES))
def test_every_key_in_the_tables_of_owners_is_set_by_the_program_somewhere(chart: str) -> None:
    """What the program leaves at a chart's default is a row of needs.yaml, with reason and source."""
    if chart == NVIDIA_DRIVER:
        plans = [plan_without_files(each) for each in covering()]
        found = {path for plan in plans for each in plan.gpu.drivers.values() for path in units(each.spec)}
    else:
        found = {path for _, values in derived()[chart] for path in units(values)}
    above = {path[:end] for path in found for end, letter in enumerate(path) if letter == "."} | found
    unset = [path for path in OWNED_VALUES[chart] if not any(pattern(path).fullmatch(each) for each in above)]
    # Two fields by which a driver would select other nodes, and an old name of one that is set.
    assert set(unset) <= {"default", "nodeAffinity", "useOpenKernelModules"}
