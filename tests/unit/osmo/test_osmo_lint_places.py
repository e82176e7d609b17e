"""Findings about values that OSMO or Kubernetes reads otherwise than they look, each at its place."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import yaml

from physical_ai.planning.osmo_service import as_yaml
from physical_ai.settings import load
from tests.support.cases import in_one_test
from tests.unit.osmo.test_osmo_lint import DIGEST, EXAMPLES, checked, stack, workflow
from workbench.osmo.lint import check_text, checks_resources, of_chart_values
from workbench.osmo.lint.places import refused_at
from workbench.osmo.lint.source import Source
from workbench.osmo.lint.view import View
from workbench.osmo.refusal import Refusal
from workbench.osmo.service.pools import TopologyKey
from workbench.osmo.units import duration, span
from workbench.osmo.workflow.schema import parse

VALUES = (EXAMPLES / "config-submits" / "pass.yaml").read_text()


@in_one_test(
    ("line", "rule", "at", "problem"),
    [
        ("      A=B: x", "pod-invalid", "      A=B", "'A=B' is not a name of a variable"),
        ("      '': x", "pod-invalid", "      ''", "'' is not a name of a variable"),
        ("      ä: x", "pod-invalid", "      ä", "'ä' is not a name of a variable"),
        ("    files: [{path: /a, contents: '=x', base64: true}]", "pod-invalid", "    files", "not base64"),
        ("    files: [{path: /a, contents: ''}, {path: //a, contents: ''}]", "pod-invalid", "    files", "collides"),
        ("    files: [{path: a, contents: ''}, {path: /a, contents: ''}]", "pod-invalid", "    files", "collides"),
        ("    files: [{path: /a/b, contents: ''}, {path: /a, contents: ''}]", "pod-invalid", "    files", "collides"),
        ("    files: [{path: /a/my file, contents: ''}]", "pod-invalid", "    files", "can't be a key of a Secret"),
        ("    files: [{path: /a/, contents: ''}]", "pod-invalid", "    files", "can't be a key of a Secret"),
        ("    files: [{path: /a/../b, contents: ''}]", "pod-invalid", "    files", "contains '..'"),
        ("    checkpoint: [{path: /a, url: s3://a/b, frequency: true}]", "schema", "    checkpoint", "is no duration"),
        ("    checkpoint: [{path: /a, url: s3://a/b, frequency: .inf}]", "schema", "    checkpoint", "million years"),
        ("    checkpoint: [{path: /a, url: s3://a/b, frequency: 9999999999d}]", "schema", "    checkpoint", "million"),
        ("    outputs: [{dataset: {name: a/b, labels: ['']}}]", "schema", "    outputs", "not a valid input or output"),
        (
            "    inputs: [{url: s3://a/b, regex: 'a{9999999999}'}]",
            "schema",
            "    inputs",
            "not a valid input or output",
        ),
        ("    privileged: maybe", "schema", "    privileged", "write true or false"),
        ("    lead: [1]", "schema", "    lead", "write true or false"),
    ],
)
def test_a_value_is_reported_where_it_is(line: str, rule: str, at: str, problem: str) -> None:
    text = workflow(f"{line}\n")
    findings = [finding for finding in checked(text).findings if finding.rule == rule]
    assert any(problem in finding.problem for finding in findings), checked(text).findings
    assert {text.split("\n")[finding.line - 1].startswith(at) for finding in findings} == {True}
    assert not any("Input should" in finding.problem for finding in findings)


@pytest.mark.parametrize("digest", ["sha256:abc", f"sha256:{'A' * 64}", f"md5:{'a' * 32}"])
def test_a_digest_has_the_length_of_its_algorithm(digest: str) -> None:
    (finding,) = checked(workflow().replace(DIGEST, f"@{digest}")).findings
    assert (finding.rule, finding.line) == ("image-reference", 8)


@pytest.mark.parametrize("wanted", ["0.5", "'0.5'", "half"])
def test_a_part_of_a_gpu_is_refused_with_the_way_to_share_one(wanted: str) -> None:
    (finding,) = [
        each for each in checked(workflow().replace("gpu: 1", f"gpu: {wanted}")).findings if each.rule == "schema"
    ]
    assert "GPUs are whole numbers" in finding.problem
    assert "sharing (timeSlicing, mps or mig;" in str(finding.fix)


def test_an_amount_without_a_unit_is_in_bytes() -> None:
    (finding,) = [each for each in checked(workflow().replace("64Gi", "4")).findings if each.rule == "amount-unit"]
    assert "it is 4 bytes" in finding.problem
    assert finding.fix == "4Gi"
    assert checked(workflow().replace("64Gi", str(64 << 30))).findings == []


@pytest.mark.parametrize(
    ("version", "found"), [("2", []), ('"2"', []), ("'2' # x", []), ("1", ["1"]), ("two", ["two"])]
)
def test_the_version_may_be_text(version: str, found: list[str]) -> None:
    findings = checked(workflow(top=f"version: {version}\n")).findings
    assert [finding.problem for finding in findings] == [f"version '{each}' is read as 2" for each in found]


def test_a_template_that_sets_the_capabilities_makes_their_lack_a_warning() -> None:
    text = workflow().replace("    environment:\n      NVIDIA_DRIVER_CAPABILITIES: all\n", "")
    (finding,) = checked(text).findings
    assert (finding.rule, finding.severity) == ("gpu-capabilities", "warning")
    assert "platform 'h100' sets it to all" in finding.problem
    values = yaml.safe_load(VALUES)
    del values["services"]["configs"]["podTemplates"]["gpu"]["spec"]["containers"][0]["env"]
    (finding,) = [
        each for each in check_text(text, "w.yaml", of_chart_values(values, "v")).findings if each.rule == finding.rule
    ]
    assert finding.severity == "error"


@pytest.mark.parametrize("text", ["soon", "1.5h", "9999999999d", "P9999999999D", ""])
def test_a_duration_that_is_none_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match="not a duration"):
        duration(text)


@pytest.mark.parametrize("value", [True, float("inf"), float("nan"), 10**20])
def test_a_number_that_is_no_duration_is_a_value_error(value: float) -> None:
    with pytest.raises(ValueError, match="duration"):
        span(value)


@in_one_test(
    ("line", "at", "problem"),
    [
        ("    args: ['{{ \"x }}']", '"x }}', "a quoted text in an expression is not closed"),
        ("    args: ['{{uuid}}{{uuid}} {{ $x }}']", "$x", "`$` can't be part of an expression"),
        ("    args: ['ä {{ a ? b }}']", "? b", "`?` can't be part of an expression"),
        ("    args: ['{{ a b }}']", "    args", "`b` where `}}` is expected"),
        ("    args: ['{{ }}']", "    args", "`}}` where a value is expected"),
        ("    args: ['{{ (a }}']", "    args", "`}` where `)` is expected"),
        ("    args: ['{% if a %}']", "    args", "`{% if %}` is not closed: `{% endif %}` is missing"),
        ("    args: ['{% endfor %}']", "    args", "`{% endfor %}` without `{% for %}` before it"),
        ("    args: ['{% foo %}']", "    args", "`{% foo %}` is not a statement of Jinja"),
        ("    args: ['{{ a|nofilter }}']", "    args", "`nofilter` is not a filter of Jinja"),
        ("    args: ['{# x']", "    args", "a comment is not closed: `#}` is missing"),
        ("    args: ['{{ seed }}']", "    args", "'seed' is undefined: it is not in default-values, and not set"),
        ("    args: ['{{ {}.a }}']", "    args", "a value that is a map has no 'a'"),
        ("    args: ['{{ 1 + \"a\" }}']", "    args", "values of types that do not fit"),
        ("    args: ['{{ 1 // 0 }}']", "    args", "OSMO would crash here: a division by zero"),
        ("    args: ['{% include \"x\" %}']", "    args", "a template can't include, import or extend another file"),
        ("    args: ['{{ range(10**7) }}']", "    args", "OSMO would crash here: `range` has more than 100000 numbers"),
    ],
)
def test_an_error_of_a_template_is_explained_where_it_is(line: str, at: str, problem: str) -> None:
    text = workflow(f"{line}\n")
    (finding,) = [each for each in checked(text).findings if each.rule == "template-error"]
    assert finding.problem == problem
    assert text.split("\n")[finding.line - 1] == line
    # Jinja reports a character's place for characters only, and the line of everything else.
    assert line[finding.column - 1 :].startswith(at)


GROUPS = """workflow:
  name: example
  resources:
    big: {cpu: 1, memory: 1Gi, storage: 1Gi}
  groups:
  - name: first
    tasks:
    - {name: train, image: a, command: [x], lead: true, resource: big, volumeMounts: [/data]}
    - {name: watch, image: a, command: [x], resource: big, inputs: [{url: "ftp://a/b"}]}
"""


@in_one_test(
    ("message", "line", "at"),
    [
        ("watch: 'ftp://a/b' is not an address", 9, "url:"),
        ("train: platform 'h100' does not allow the mount /data", 8, "/data"),
        ("first: task 'nope' of an input does not exist", 6, "name: first"),
        ("first requests 2 GPUs, but pool 'p' guarantees 1", 6, "name: first"),
        ("resource 'big': topology key 'rack' is not one of the pool's: none", 4, "big:"),
        ("watch: resource 'small' does not exist", 9, "{name: watch"),
        ("Assertion failed for task train: cpu must be above 0", 8, "{name: train"),
        ("'watch' is longer than 2 characters", 9, "name: watch,"),
        ("more than 1 tasks", 2, "name: example"),
        ("OSMO would crash here: watch: credential 'x' does not have the key 'y'", 9, "{name: watch"),
    ],
)
def test_a_refusal_is_reported_at_the_field_that_it_is_about(message: str, line: int, at: str) -> None:
    source = Source("w.yaml", GROUPS)
    source.composed(GROUPS, tuple(range(GROUPS.count("\n") + 1)))
    spec = parse(yaml.safe_load(GROUPS))
    context = stack()
    view = View(source, context, context.config.pool(context.pool), spec)
    row, column = source.position(refused_at(message, view))
    assert row == line
    assert GROUPS.split("\n")[row - 1][column - 1 :].startswith(at)


def configuration() -> str:
    """The OSMO configuration of the default stack."""
    return as_yaml(load("dev-westus2").settings)


@dataclass(frozen=True)
class Edit:
    """A place in that configuration, and another value of it."""

    path: tuple[str | int, ...]
    value: object

    def text(self) -> str:
        """The configuration as a file."""
        document = yaml.safe_load(configuration())
        holder = document["services"]["configs"]
        for step in self.path[:-1]:
            holder = holder[step]
        holder[self.path[-1]] = self.value
        return yaml.safe_dump(document)

    def __str__(self) -> str:
        return ".".join(map(str, self.path))


def edited(*path: str | int, value: object) -> Edit:
    return Edit(path, value)


@in_one_test(
    ("edit", "rule", "problem"),
    [
        (edited("workflow", "max_exec_timeout", value="soon"), "config-reads", "max_exec_timeout: 'soon' is not"),
        (edited("pools", "default", "default_queue_timeout", value="1x"), "config-reads", "default_queue_timeout"),
        (edited("service", "max_pod_restart_limit", value="never"), "config-reads", "max_pod_restart_limit"),
        (edited("podTemplates", "task", "metadata", value=True), "config-loads", "'labels' can't be set"),
        (edited("podTemplates", "task", "metadata", "annotations", value=True), "config-submits", "unexpected form"),
        (
            edited("podTemplates", "task", "spec", "containers", 0, "image", value="{{ NO }}"),
            "config-submits",
            "'NO' is",
        ),
        (edited("podTemplates", "task", "spec", "tolerations", value=[{}]), "config-reads", "can't be read"),
        (edited("resourceValidations", "amounts", 0, "left_operand", value="{% for"), "config-submits", "{% for"),
        (edited("resourceValidations", "amounts", 0, "right_operand", value="soon"), "config-submits", "compared"),
        (edited("pools", "default", "common_default_variables", value={True: 1}), "config-submits", "crash"),
        (edited("podTemplates", value={True: 1}), "config-name", "does not exist"),
    ],
    ids=str,
)
def test_values_that_refuse_every_workflow_are_reported(edit: Edit, rule: str, problem: str) -> None:
    found = check_text(edit.text(), "values.yaml", stack()).findings
    assert any(each.rule == rule and problem in each.problem for each in found), found
    assert all(each.line > 1 for each in found)


def test_the_stacks_own_values_have_no_finding() -> None:
    assert check_text(configuration(), "values.yaml", stack()).findings == []


@pytest.mark.parametrize("value", ["x", 5, [1], {"workflow_data": "x"}, {"workflow_data": {"credential": 5}}])
def test_values_of_another_form_are_refused(value: object) -> None:
    with pytest.raises(Refusal, match="workflow"):
        of_chart_values({"services": {"configs": {"workflow": value}}}, "v")


@pytest.mark.parametrize(("zones", "found"), [(("a", "a", "b"), ["'a'"]), (("a", "a", "a"), [])])
def test_tasks_that_are_apart_on_two_levels_of_a_topology_are_found(zones: tuple[str, ...], found: list[str]) -> None:
    racks = ("a", "b", "a")
    own = "".join(
        f"    r{i}: {{cpu: 1, topology: [{{key: zone, group: {zone}}}, {{key: rack, group: {rack}}}]}}\n"
        for i, (zone, rack) in enumerate(zip(zones, racks, strict=True))
    )
    tasks = "".join(
        f"    - {{name: t{i}, image: a, command: [x], resource: r{i}, lead: {str(not i).lower()}}}\n" for i in range(3)
    )
    text = f"workflow:\n  name: w\n  resources:\n{own}  groups:\n  - name: g\n    tasks:\n{tasks}"
    source = Source("w.yaml", text)
    source.composed(text, tuple(range(text.count("\n") + 1)))
    context = stack()
    keys = [TopologyKey(key=key, label=key) for key in ("zone", "rack")]
    pool = context.config.pool(context.pool).model_copy(update={"topology_keys": keys})
    checks_resources.check(View(source, context, pool, parse(yaml.safe_load(text))))
    problems = [each.problem for each in source.findings if "mid-level" in each.problem]
    assert [f"so that {name} has parts of its own" in each for name, each in zip(found, problems, strict=True)] == [
        True for _ in found
    ]
