"""What holds for any workflow, template and pool."""

from __future__ import annotations

import copy
import re
from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from physical_ai.settings import Overlay, SettingsError
from physical_ai.settings import load as load_stack
from physical_ai.settings.facts.osmo import platforms
from tests.support.examples import examples
from tests.support.osmo_documents import DOCUMENTS, KEYS, VALUES, context, sound
from workbench.osmo import units
from workbench.osmo.jinja import environment
from workbench.osmo.lint import check_text
from workbench.osmo.merge import merge
from workbench.osmo.refusal import CRASH, Refusal
from workbench.osmo.service.configuration import load
from workbench.osmo.service.stack_config import loaded_config
from workbench.osmo.workflow.line_marks import line_map, marking_environment

NAMES = st.sampled_from(["a", "b", "c", "name"])
SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.text("ab{}% \n:-name", max_size=8)
TREES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=12,
)
NAMED = st.lists(
    st.fixed_dictionaries({"name": NAMES}, optional={"value": SCALARS}), max_size=4, unique_by=lambda i: i["name"]
)
TEMPLATES = st.dictionaries(NAMES, NAMED | st.dictionaries(NAMES, SCALARS, max_size=3), max_size=3)


@given(TREES, TREES)
def test_merging_ends_in_a_tree_or_a_refusal_and_leaves_its_arguments_alone(base: Any, layer: Any) -> None:
    base, layer = {"x": base}, {"x": layer}
    before = copy.deepcopy((base, layer))
    kind = "none"
    try:
        merge(base, layer)
    except Refusal as refusal:
        kind = refusal.kind
    assert kind in ("none", CRASH)
    assert (base, layer) == before


@given(TEMPLATES)
def test_a_layer_of_named_items_laid_twice_is_laid_once(template: dict[str, Any]) -> None:
    assert merge({}, template, template) == merge({}, template)


@given(TEMPLATES, TEMPLATES)
def test_names_of_a_list_remain_unique(base: dict[str, Any], layer: dict[str, Any]) -> None:
    try:
        result = merge(base, layer)
    except Refusal:
        return
    for value in result.values():
        if isinstance(value, list):
            names = [item["name"] for item in value]
            assert len(names) == len(set(names))


@given(st.integers(0, 10**6), st.sampled_from(list(units.POWERS)), st.sampled_from(list(units.POWERS)))
def test_an_amount_survives_the_way_to_another_unit_and_back(number: int, unit: str, other: str) -> None:
    there = units.convert(f"{number}{unit}", other)
    assert there * 2.0 ** (units.POWERS[other] - units.POWERS[unit]) == number


@given(st.text(max_size=200))
def test_any_text_is_checked_to_the_end(text: str) -> None:
    sound(text)


@given(st.text("{}%# \nabworkflow:-[]'\"", max_size=120))
@examples(60)
def test_any_template_is_checked_to_the_end(text: str) -> None:
    sound(f"workflow:\n  name: a\n{text}")


@given(st.dictionaries(KEYS, DOCUMENTS, max_size=6))
def test_any_document_is_checked_to_the_end(document: dict[str, Any]) -> None:
    sound(yaml.safe_dump({"workflow": document}))


TASK = st.fixed_dictionaries(
    {
        "name": st.sampled_from(["a", "b", "c", "A", "a-group"]),
        "image": st.sampled_from(["u", "u:1", "U"]),
        "command": st.just(["x"]),
    },
    optional={
        "environment": st.dictionaries(
            st.sampled_from(["A", "NVIDIA_DRIVER_CAPABILITIES", "HF_TOKEN"]), st.just("all")
        ),
        "inputs": st.lists(
            st.sampled_from([{"task": "a"}, {"task": "zz"}, {"url": "s3://b/p"}, {"url": "x"}]), max_size=2
        ),
        "outputs": st.lists(st.sampled_from([{"url": "s3://b/o"}, {"dataset": {"name": "bkt/d"}}]), max_size=2),
        "credentials": st.sampled_from([{"a": "/x"}, {"a": {"A": "k"}}, {}]),
        "files": st.sampled_from([[], [{"path": "/a", "contents": "1"}], [{"path": "/dev/shm", "contents": "1"}]]),  # noqa: S108
        "exitActions": st.sampled_from([{"FAIL": "1"}, {"RESCHEDULE": "5-1"}]),
        "cacheSize": st.sampled_from(["50%", "5Gi", "x"]),
        "volumeMounts": st.sampled_from([["/a"], ["/a:/b:ro"]]),
        "privileged": st.booleans(),
        "lead": st.booleans(),
        "resource": st.sampled_from(["default", "big", "none"]),
    },
)
RESOURCE = st.fixed_dictionaries(
    {},
    optional={
        "platform": st.sampled_from(["h100", "rtxpro", "cpu", "a100"]),
        "gpu": st.integers(-1, 3),
        "cpu": st.integers(-1, 200),
        "memory": st.sampled_from(["1Gi", "400Gi", "1", "5G", "0Gi"]),
        "storage": st.sampled_from(["1Gi", "900Gi"]),
    },
)


@given(
    st.lists(TASK, min_size=1, max_size=3),
    st.fixed_dictionaries({"default": RESOURCE}, optional={"big": RESOURCE}),
    st.booleans(),
)
def test_what_is_found_right_is_what_osmo_takes(tasks: list[Any], resources: dict[str, Any], grouped: bool) -> None:
    """No error found: there are Pods. No Pods: there is an error that says why."""
    body = {"groups": [{"name": "g", "tasks": tasks}]} if grouped else {"tasks": tasks}
    result = check_text(
        yaml.safe_dump({"workflow": {"name": "w", "resources": resources, **body}}), "w.yaml", context()
    )
    errors = [finding for finding in result.findings if finding.severity == "error"]
    assert errors or sum(len(group.pods) for group in result.objects) == len(tasks)


PIECES = st.sampled_from(
    [
        "a\n",
        "  b: {{ x }}\n",
        "{% if x %}\nyes\n{% endif %}\n",
        "{# c\nd #}\n",
        "{% for i in l %}\n- {{ i }}\n{% endfor %}",
        "\n",
    ]
)


@given(st.lists(PIECES, max_size=8))
def test_each_rendered_line_comes_from_a_line_that_holds_its_text(pieces: list[str]) -> None:
    template = "".join(pieces)
    data = {"x": 1, "l": [1, 2, 3]}
    plain = environment().from_string(template).render(data)
    marked = marking_environment().from_string(template).render(data)
    lines, written = line_map(plain, marked, 0), template.split("\n")
    assert len(lines) == plain.count("\n") + 1
    for shown, number in zip(plain.split("\n"), lines, strict=True):
        words = re.findall(r"[a-z]+", shown)
        if number < len(written) and words:
            assert all(word in written[number] for word in words)


SHARING = st.sampled_from(
    [
        "{}",
        "{timeSlicing: {replicas: 4}}",
        "{timeSlicing: {replicas: 2, rename: true}}",
        "{mps: {replicas: 3}}",
        "{mig: {strategy: single, profiles: {1g.12gb: 7}}}",
        "{mig: {strategy: mixed, profiles: {1g.12gb: 3, 3g.47gb: 1}}}",
    ]
)


@given(
    SHARING,
    st.sampled_from(
        [
            "Standard_NC40ads_H100_v5",
            "Standard_NC80adis_H100_v5",
            "Standard_NC24ads_A100_v4",
            "Standard_ND96isr_H100_v5",
        ]
    ),
    st.sampled_from(["Regular", "Spot"]),
    st.sampled_from(["shared", "perPool"]),
    st.sampled_from([64, 128, 512]),
)
@examples(40)
def test_any_accepted_pool_makes_a_platform_the_service_can_read(
    sharing: str, size: str, priority: str, queues: str, disk: int
) -> None:
    assignments = [
        f"pools.h100gpu.sku={size}",
        f"pools.h100gpu.sharing={sharing}",
        f"pools.h100gpu.priority={priority}",
        f"pools.h100gpu.osDisk={{type: Managed, sizeGb: {disk}}}",
        f"osmo.queues={queues}",
    ]
    try:
        stack = load_stack("dev-westus2", [Overlay.assign(assignments)]).settings
    except SettingsError:
        return
    config = load(loaded_config(stack))
    assert config.missing == []
    offered = {name for pool in config.pool_names for name in config.pool(pool).platforms}
    assert offered == {item.name for item in platforms(stack)}
    for item in platforms(stack):
        assert item.share.cpus <= item.room.cpus
        if item.has_gpu:
            assert 1 <= item.most <= item.per_node


CONFIG_KEYS = st.sampled_from(
    [
        "podTemplates",
        "resourceValidations",
        "groupTemplates",
        "pools",
        "backends",
        "workflow",
        "service",
        "dataset",
        "roles",
        "default",
        "task",
        "spec",
        "containers",
        "tolerations",
        "nodeSelector",
        "platforms",
        "common_pod_template",
        "override_pod_template",
        "resource_validations",
        "backend",
        "key",
        "operator",
        "default_platform",
        "metadata",
        "name",
        "env",
        "value",
        "default_variables",
        "USER_GPU",
        "resources",
        "limits",
        "nvidia.com/gpu",
        "volumeMounts",
    ]
)
CONFIGS = st.recursive(
    VALUES | st.sampled_from(["task", "default", "{{USER_GPU}}", "GE"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(CONFIG_KEYS, inner, max_size=4),
    max_leaves=25,
)


@given(st.dictionaries(CONFIG_KEYS, CONFIGS, max_size=5))
def test_any_configuration_is_checked_to_the_end(configs: dict[str, Any]) -> None:
    pool = {"backend": "default", "common_pod_template": ["task"], "platforms": {"h100": configs.get("platforms", {})}}
    sound(yaml.safe_dump({"services": {"configs": {"pools": {"default": pool}, **configs}}}))
