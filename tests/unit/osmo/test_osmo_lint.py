"""The check of workflow files: every rule by example, and what findings look like."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import pytest

from physical_ai.settings import Overlay, load
from tests.support.cases import in_one_test
from workbench.osmo.lint import RULES, Checked, Context, check_text, of_stack
from workbench.osmo.workflow.rendering import Variables

EXAMPLES = Path(__file__).parents[2] / "fixtures" / "osmo" / "lint"
DIGEST = f"@sha256:{'5f70bf18' * 8}"


@lru_cache(maxsize=8)
def stack(*assignments: str, pool: str | None = None) -> Context:
    return of_stack(load("dev-westus2", [Overlay.assign(assignments)] if assignments else []).settings, pool)


def checked(text: str, context: Context | None = None) -> Checked:
    return check_text(text, "w.yaml", context or stack())


def rules_of(result: Checked) -> list[str]:
    return [finding.rule for finding in result.findings]


def example(rule: str, kind: str) -> Checked:
    path = EXAMPLES / rule / f"{kind}.yaml"
    return check_text(path.read_text(), f"{kind}.yaml", stack(), path.parent)


@in_one_test("rule", sorted(RULES))
def test_each_rule_finds_its_failing_example(rule: str) -> None:
    result = example(rule, "fail")
    assert rule in rules_of(result)
    written = (EXAMPLES / rule / "fail.yaml").read_text().split("\n")
    for finding in result.findings:
        assert 1 <= finding.line <= len(written)
        assert 1 <= finding.column <= len(written[finding.line - 1]) + 1
        assert finding.problem
        assert finding.fix


@in_one_test("rule", sorted(RULES))
def test_nothing_is_found_in_its_passing_example(rule: str) -> None:
    assert example(rule, "pass").findings == []


def test_there_is_no_example_without_a_rule() -> None:
    assert {path.name for path in EXAMPLES.iterdir()} == set(RULES)


def workflow(task: str = "", resource: str = "", top: str = "") -> str:
    return f"""{top}workflow:
  name: example
  timeout: {{exec_timeout: 2h}}
  resources:
    default: {{platform: h100, gpu: 1, cpu: 8, memory: 64Gi, storage: 100Gi{resource}}}
  tasks:
  - name: train
    image: registry.example/trainer:1.2{DIGEST}
    command: [python, train.py]
    environment:
      NVIDIA_DRIVER_CAPABILITIES: all
{task}"""


def test_a_finding_is_at_the_key_it_is_about() -> None:
    result = checked(workflow("    privileged: true\n"))
    (finding,) = result.findings
    assert (finding.file, finding.line, finding.column) == ("w.yaml", 12, 5)
    assert finding.rule == "privileged"


def test_lines_are_those_of_the_file_and_not_of_what_was_rendered() -> None:
    text = workflow(
        "{% for name in names %}\n    # {{ name }}\n{% endfor %}\n    privileged: true\n",
        top="default-values:\n  names: [a, b, c, d]\n\n",
    )
    (finding,) = checked(text).findings
    assert text.split("\n")[finding.line - 1] == "    privileged: true"


def test_a_line_that_was_rendered_is_reported_at_its_start() -> None:
    text = workflow(
        "    args: ['{{ length }}']\n    {{ key }}: true\n", top="default-values: {key: privileged, length: 1}\n"
    )
    (finding,) = checked(text).findings
    assert (text.split("\n")[finding.line - 1], finding.column) == ("    {{ key }}: true", 5)


def test_jinja_errors_are_reported_at_their_line() -> None:
    text = workflow("    args: ['{{ nope }}']\n")
    (finding,) = checked(text).findings
    assert finding.rule == "template-error"
    assert "'nope' is undefined" in finding.problem
    assert text.split("\n")[finding.line - 1] == "    args: ['{{ nope }}']"


@in_one_test(
    ("text", "rule", "line"),
    [
        ("", "file-sections", 1),
        ("just text", "file-sections", 1),
        ("workflow:\n  name: a\nother: 1\n", "file-sections", 3),
        ("default-values: [1]\nworkflow:\n  name: a\n", "template-error", 1),
        ("workflow:\n  name: {% if %}\n", "template-error", 2),
        ("workflow:\n  name: {{ 1/0 }}\n", "template-error", 2),
        ("workflow:\n  name: a\n\ttasks: []\n", "yaml-syntax", 3),
        ("workflow:\n", "yaml-syntax", 1),
        ("workflow: [1]\n", "yaml-syntax", 1),
        ("workflow: {}\n", "schema", 1),
        ("workflow:\n  name: 5\n  tasks: 7\n", "schema", 2),
    ],
)
def test_an_invalid_file_is_reported(text: str, rule: str, line: int) -> None:
    result = checked(text)
    assert (result.findings[0].rule, result.findings[0].line) == (rule, line)


@pytest.mark.parametrize("text", ["tasks: []\n", "just text", ""])
def test_a_file_without_a_workflow_is_told_to_have_one(text: str) -> None:
    (finding,) = checked(text).findings
    assert (finding.fix or "").startswith("Write `workflow:` at the start of a line")


def test_an_unknown_key_beside_a_workflow_is_to_be_moved_below_it() -> None:
    (finding,) = checked("workflow:\n  name: a\nother: 1\n").findings
    assert finding.fix == "Move the key below `workflow`, or remove it."


@pytest.mark.deep  # in `make test`: a slow template in test_osmo_hostile_files.py
def test_a_template_that_never_ends_is_cut_off() -> None:
    result = checked(
        workflow(
            "    args: ['{% for i in range(n) %}{% for j in range(n) %}{% endfor %}{% endfor %}']\n",
            top="default-values: {n: 99999}\n",
        )
    )
    assert rules_of(result) == ["template-error"]
    assert "longer than 0.5 s" in result.findings[0].problem


def test_several_faults_are_reported_at_once() -> None:
    text = """workflow:
  name: 1st
  resources:
    default: {platform: h100, gpus: 1, memory: 64GB}
  groups:
  - name: _g
    tasks:
    - {name: a, image: u:1, command: [], lead: true}
    - {name: b, imgae: u:1, command: [x]}
"""
    found = {(finding.rule, finding.line) for finding in checked(text).findings}
    assert {("schema", 2), ("schema", 4), ("amount-unit", 4), ("schema", 6), ("schema", 8), ("schema", 9)} <= found


def test_an_unknown_key_is_reported_with_the_one_that_was_meant() -> None:
    result = checked(workflow("    enviroment: {A: b}\n"))
    assert [finding.fix for finding in result.findings] == ["Did you mean 'environment'?"]


def test_an_input_of_no_form_is_one_finding() -> None:
    result = checked(workflow('    inputs:\n    - {task: a, url: "s3://b/p"}\n'))
    assert rules_of(result) == ["schema"]
    assert "{task: NAME}" in (result.findings[0].fix or "")


def test_platforms_are_those_of_the_stack() -> None:
    text = workflow().replace("platform: h100", "platform: a10")
    assert rules_of(checked(text)) == ["platform-unknown"]
    size = "sku: Standard_NV36ads_A10_v5, driver: {source: grid}, scale: {min: 0, max: 1}"
    assert rules_of(checked(text, stack(f"pools.a10gpu={{{size}, subnet: 10.40.3.0/26}}"))) == []


def test_a_platform_of_another_osmo_pool_is_reported_with_that_pool() -> None:
    (finding,) = checked(workflow(), stack("osmo.queues=perPool")).findings
    assert (finding.rule, finding.fix) == ("platform-unknown", "It belongs to OSMO pool h100: use --pool h100.")
    assert rules_of(checked(workflow(), stack("osmo.queues=perPool", pool="h100"))) == []


@pytest.mark.parametrize(
    ("sharing", "gpus", "expected"),
    [
        ("{timeSlicing: {replicas: 4}}", 1, []),
        ("{timeSlicing: {replicas: 4}}", 2, ["gpu-limit"]),
        ("{timeSlicing: {replicas: 4, failRequestsGreaterThanOne: false}}", 2, []),
        ("{mig: {strategy: single, profiles: {1g.12gb: 7}}}", 7, []),
        ("{mig: {strategy: single, profiles: {1g.12gb: 7}}}", 8, ["gpu-limit"]),
    ],
)
def test_shared_gpus_are_counted(sharing: str, gpus: int, expected: list[str]) -> None:
    text = workflow().replace("gpu: 1", f"gpu: {gpus}")
    assert rules_of(checked(text, stack(f"pools.h100gpu.sharing={sharing}"))) == expected


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        ("nvcr.io/nvidia/isaac-sim:4.5.0", ["isaac-vgpu"]),
        ("nvcr.io/nvidia/isaac-sim:5.1.0", ["isaac-vgpu"]),
        ("nvcr.io/nvidia/isaac-sim:6.0.0", []),
        ("nvcr.io/nvidia/isaac-lab:2.3.2", ["isaac-vgpu"]),
        ("nvcr.io/nvidia/isaac-lab:3.0.0", []),
        ("nvcr.io/nvidia/isaac-lab:main", []),
        ("registry.example/isaac-simulator-free:1.0", []),
    ],
)
def test_old_isaac_sim_is_reported_on_a_vgpu_alone(image: str, expected: list[str]) -> None:
    text = workflow('      ACCEPT_EULA: "Y"\n', ", topology: []").replace("registry.example/trainer:1.2", image)
    assert [rule for rule in rules_of(checked(text)) if rule == "isaac-vgpu"] == []
    text = text.replace("platform: h100", "platform: rtxpro").replace("memory: 64Gi", "memory: 128Gi")
    assert [rule for rule in rules_of(checked(text)) if rule == "isaac-vgpu"] == expected


@pytest.mark.parametrize(
    ("image", "capabilities", "expected"),
    [
        ("registry.example/trainer:1.2", "compute,utility", []),
        ("registry.example/trainer:1.2", "compute", ["gpu-capabilities"]),
        ("registry.example/trainer:1.2", "everything", ["gpu-capabilities"]),
        ("nvcr.io/nvidia/isaac-sim:6.0.0", "compute,utility", ["gpu-capabilities"]),
        ("nvcr.io/nvidia/isaac-sim:6.0.0", "compute,utility,graphics", []),
    ],
)
def test_rendering_needs_graphics(image: str, capabilities: str, expected: list[str]) -> None:
    text = workflow('      ACCEPT_EULA: "Y"\n').replace("CAPABILITIES: all", f"CAPABILITIES: '{capabilities}'")
    assert rules_of(checked(text.replace("registry.example/trainer:1.2", image))) == expected


def test_a_comment_allows_a_rule_on_its_line_only() -> None:
    text = workflow("    privileged: true\n    hostNetwork: true\n")
    assert rules_of(checked(text)) == ["privileged", "privileged"]
    allowed = text.replace("privileged: true", "privileged: true  # physai-lint: allow privileged")
    assert rules_of(checked(allowed)) == ["privileged"]
    above = text.replace(
        "    privileged: true", "    # physai-lint: allow image-digest, privileged\n    privileged: true"
    )
    assert rules_of(checked(above)) == ["privileged"]


def test_variables_of_the_command_line_reach_the_template() -> None:
    text = workflow(top="default-values: {platform: cpu}\n").replace("platform: h100", "platform: {{ platform }}")
    assert "gpu-on-cpu" in rules_of(checked(text))
    base = stack()
    context = Context(
        base.name, base.config, base.pool, base.facts, base.cut_vgpu, base.nccl, Variables(set=["platform=h100"])
    )
    assert rules_of(checked(text, context)) == []


def test_a_finding_in_a_loop_is_reported_once() -> None:
    loop = "{% for i in [1, 2] %}  - {name: 't{{i}}', image: u, command: [x]}\n{% endfor %}"
    text = f"workflow:\n  name: w\n  tasks:\n{loop}"
    assert rules_of(checked(text)) == ["image-latest"]


def test_what_the_environment_is_given_is_in_the_rendered_pod() -> None:
    base = stack()
    context = Context(
        base.name, base.config, base.pool, base.facts, base.cut_vgpu, base.nccl, Variables(environment=["SEED=7"])
    )
    (group,) = checked(workflow(), context).objects
    assert {"name": "SEED", "value": "7"} in group.pods[0]["spec"]["containers"][0]["env"]


@pytest.mark.deep  # in `make test`: limits of time and size in test_osmo_hostile_files.py
def test_ten_thousand_lines_are_checked_quickly() -> None:
    import time

    tasks = "".join(
        f"  - name: t{index}\n    image: registry.example/t:1{DIGEST}\n    command: [x]\n    args: [a]\n"
        for index in range(2500)
    )
    start = time.process_time()
    result = checked(f"workflow:\n  name: many\n  tasks:\n{tasks}")
    assert rules_of(result) == ["refused"]
    assert "more than 100 tasks" in result.findings[0].problem
    assert time.process_time() - start < 20


@pytest.mark.parametrize(
    ("image", "call", "fix"),
    [
        ("isaac-lab:2.3.0", "simulation_app.close()", "os._exit(code) as the last line"),
        ("isaac-lab:3.0.0", "simulation_app.close()", "simulation_app.close(exit_code=code)"),
        ("isaac-sim:6.0.0", "simulation_app.close( )", "simulation_app.close(exit_code=code)"),
        ("isaac-lab:3.0.0", "simulation_app.close(exit_code=1)", ""),
    ],
)
def test_isaac_sim_6_ends_with_the_code_that_it_is_given(image: str, call: str, fix: str) -> None:
    text = (EXAMPLES / "isaac-close" / "fail.yaml").read_text()
    text = re.sub(r"isaac-lab:3\.0\.0@\S+", f"{image}{DIGEST}", text).replace("simulation_app.close()", call)
    fixes = [each.fix or "" for each in checked(text).findings if each.rule == "isaac-close"]
    assert [fix in each for each in fixes] == ([True] if fix else [])


def test_what_the_next_release_removes_is_an_error_when_it_is_checked_for() -> None:
    text = (EXAMPLES / "next-release" / "fail.yaml").read_text()

    def severities(context: Context) -> set[str]:
        return {each.severity.value for each in checked(text, context).findings if each.rule == "next-release"}

    following = replace(stack(), osmo_version="6.4")
    assert (severities(stack()), severities(following)) == ({"warning"}, {"error"})
    labelled = (
        (EXAMPLES / "next-release" / "pass.yaml")
        .read_text()
        .replace("  name: example\n", "  name: example\n  labels: {team: vision}\n")
    )
    assert checked(labelled, following).findings == []
    assert checked(labelled).findings != []
