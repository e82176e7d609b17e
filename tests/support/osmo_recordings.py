"""Runs OSMO's recorded vectors with this project's functions, which must return the same."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from simulator.osmo.control import queues
from tests.support.osmo_matching import counts
from workbench.osmo import names, units
from workbench.osmo.merge import merge
from workbench.osmo.refusal import Refusal, as_refusal, crash
from workbench.osmo.service.assertions import ResourceAssertion
from workbench.osmo.service.configuration import Configuration, load
from workbench.osmo.service.evaluation import failure
from workbench.osmo.service.pools import Pool, Toleration, merged_groups, read_pool, resolve_pool
from workbench.osmo.service.sections import WorkflowConfig
from workbench.osmo.tokens import default_variables, group_objects, label_tokens, resource_tokens, substitute
from workbench.osmo.workflow import lifecycle, schema
from workbench.osmo.workflow.rendering import Variables, is_templated, load_yaml, render
from workbench.osmo.workflow.schema import ResourceSpec, TaskSpec, TimeoutSpec
from workbench.osmo.workflow.submission import Submission, accepted, limit_of
from workbench.osmo.workflow.validation import check_resources

ROOT = Path(__file__).parents[1] / "fixtures" / "osmo" / "6.3.1"
ABSENT = "<absent>"
Vector = dict[str, Any]


def vectors(file: str) -> list[Vector]:
    """Vectors of a recording; `file` is its name without .json."""
    return json.loads((ROOT / f"{file}.json").read_text())["vectors"]


@lru_cache(maxsize=1)
def base_config() -> dict[str, Any]:
    return json.loads((ROOT / "pods" / "_base_config.json").read_text())["input"]


def configured(override: Any) -> Configuration:
    """Configuration of the recordings with a vector's changes: maps are merged, lists are replaced."""
    return load(helm_merged(base_config(), override or {}))


def helm_merged(defaults: dict[str, Any], values: dict[str, Any]) -> dict[str, Any]:
    """Default values of a chart, merged with given values as Helm does: maps are merged, null removes, the rest is
    replaced.
    """
    result = copy.deepcopy(defaults)
    for key, value in values.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict):
            below = result.get(key)
            result[key] = helm_merged(below if isinstance(below, dict) else {}, value)
        else:
            result[key] = copy.deepcopy(value)
    return result


def result_of(function: Callable[[Any], Any], given: Any) -> tuple[Any, Refusal | None]:
    """Result of a function, or its refusal."""
    try:
        return function(given), None
    except Refusal as refusal:
        return None, refusal
    except ValidationError as error:
        return None, as_refusal(error)


def _merge(given: Any) -> Any:
    first, *layers = given["layers"]
    return merge(first, *layers)


def _pool(given: Any) -> Any:
    resolved, _ = resolve_pool("p", given["pool"], given)
    return _resolved(resolved["parsed_pod_template"], resolved["platforms"], validations=True)


def _resolved(template: Any, platforms: dict[str, Any], *, validations: bool = False) -> Any:
    keys = ("parsed_pod_template", "tolerations", "labels", "default_mounts")
    result: dict[str, Any] = {
        "pool": {"parsed_pod_template": template},
        "platforms": {name: {key: item[key] for key in keys} for name, item in platforms.items()},
    }
    if validations:
        found = {n: [v["assert_message"] for v in p["parsed_resource_validations"]] for n, p in platforms.items()}
        if any(found.values()):
            result["validations"] = {name: messages for name, messages in found.items() if messages}
    return result


def _allocatable(given: Any) -> Any:
    tokens = _tokens(given)
    return {name: tokens.get(name, ABSENT) for name in given["show"]}


def _tokens(given: Any) -> dict[str, Any]:
    variables = default_variables(given["pool_defaults"], given["platform_defaults"])
    resources = ResourceSpec.model_validate(given["resources"])
    return resource_tokens(resources.model_dump(), variables, given.get("cacheSize"))


def _allocatable_render(given: Any) -> Any:
    tokens = {**_tokens(given), "USER_CONTAINER_NAME": names.container_name(given["task_name"])}
    return substitute(given["template"], tokens)


def _evaluate(given: Any) -> Any:
    message = failure(ResourceAssertion.model_validate(given["assertion"]), given["tokens"], "t")
    if message is not None:
        raise Refusal("AssertionError", message)
    return "pass"


def _split(given: Any) -> Any:
    assertions = [ResourceAssertion.model_validate(item) for item in given["assertions"]]
    return {
        kind: [item.assert_message for item in assertions if item.is_about_nodes is about_nodes]
        for kind, about_nodes in (("static", False), ("node", True))
    }


def _check_workflow(given: Any) -> Any:
    """Checks one task on a pool: takes the pool's default platform if it names none, and runs the platform's
    validations.
    """
    config = {"resource_validations": given["resource_validations"], "pod_templates": {}}
    resolved, _ = resolve_pool("p", {"backend": "d", **given["pool"]}, config)
    pool = read_pool("p", resolved)
    resources = ResourceSpec.model_validate(given["resources"])
    if not resources.platform:
        if pool.default_platform not in pool.platforms:
            raise Refusal("OSMOResourceError", "the resource has no platform")
        resources.platform = pool.default_platform
    task = TaskSpec(name="t", image="u", command=["x"], resources=resources)
    check_resources(task, pool)
    return "pass"


def _matches(given: Any) -> Any:
    node = given["node"]
    if given.get("kind") == "template":
        config = {"pod_templates": {"t": given["pod_template"]}}
        platforms = {"q": {"override_pod_template": ["t"]}}
        resolved, _ = resolve_pool("p", {"backend": "d", "platforms": platforms}, config)
        platform = read_pool("p", resolved).platforms["q"]
        return counts(platform.labels, platform.tolerations, node["labels"], node["taints"])
    tolerations = [Toleration.model_validate(item) for item in given["platform"]["tolerations"]]
    return counts(given["platform"]["labels"], tolerations, node["labels"], node["taints"])


def _image(given: Any) -> Any:
    found = names.image(given["image"])
    return {"name": found.name, "tag": found.tag, "digest": found.digest, "host": found.host, "port": found.port}


def _duration(given: Any) -> Any:
    try:
        return units.duration(given["text"]).total_seconds()
    except ValueError as error:
        raise crash(error) from None


def _labels(given: Any) -> Any:
    return names.group_labels(given["workflow_id"], "u" * 32, given["group"], "g" * 32, given["user"])


def _exit_action(given: Any) -> Any:
    status = lifecycle.after_exit(
        given["exit_code"],
        given["status"],
        task_actions=given.get("task") or {},
        pool_actions=given.get("pool") or {},
        retries=given.get("retry_id", 0),
        max_retries=given.get("max_retry", 3),
    )
    return {"status": status}


def _fill_timeouts(given: Any) -> Any:
    pool = Pool(backend="d", **(given.get("pool") or {}))
    config = WorkflowConfig.model_validate(given.get("workflow") or {})
    running, waiting = lifecycle.timeouts(TimeoutSpec.model_validate(given["timeout"]), pool, config)
    return {"exec_timeout": running.total_seconds(), "queue_timeout": waiting.total_seconds()}


def _queues(given: Any) -> Any:
    return queues.resources(
        {pool["name"]: {**pool, "backend": "d"} for pool in given["pools"]}, "d", given["namespace"]
    )


KINDS: dict[str, dict[str, Callable[[Any], Any]]] = {
    "merge": {
        "apply": _merge,
        "pool": _pool,
        "group": lambda given: merged_groups(
            [given["group_templates"][name] for name in given["names"] if name in given["group_templates"]]
        ),
        "group_render": lambda given: group_objects(given["templates"], given["variables"], given["labels"]),
    },
    "tokens": {
        "substitute": lambda given: substitute(given["template"], given["tokens"]),
        "allocatable": _allocatable,
        "allocatable_render": _allocatable_render,
        "labels_to_variables": lambda given: label_tokens(given["labels"]),
    },
    "assertions": {
        "evaluate": _evaluate,
        "parse": lambda given: ResourceAssertion.model_validate(given["assertion"]).model_dump(),
        "split": _split,
        "workflow": _check_workflow,
    },
    "matching": {"": _matches, "template": _matches},
    "helpers": {
        "k8s_name": lambda given: names.object_name(given["name"]),
        "shorten": lambda given: names.label_value(given["name"]),
        "labels": _labels,
        "duration": _duration,
        "image": _image,
        "convert_resource": lambda given: units.convert(given["value"], given["target"]),
        "exit_action": _exit_action,
        "fill_timeouts": _fill_timeouts,
        "cli_is_templated": lambda given: is_templated(given["text"]),
        "queues": _queues,
        "aggregate": lambda given: lifecycle.workflow_status(given["groups"]),
    },
}


def run(file: str, vector: Vector) -> tuple[Any, Refusal | None]:
    """Result of this project for a vector's input, or its refusal."""
    given = copy.deepcopy(vector["input"])
    return result_of(KINDS[file][given.get("kind", "")], given)


def submit(text: str, config: Configuration, given: Any = None) -> Submission:
    """Takes a workflow file through the steps of OSMO's submission. A refusal has a note with the step at which it
    happened.
    """
    given = given or {}
    variables = Variables(given.get("set", ()), given.get("set_string", ()), given.get("set_env", ()))
    step = "pool"
    try:
        pool = config.pool(given.get("pool", "default"))
        step = "template"
        rendered = render(text, variables, limit_of(config))
        step = "yaml"
        document = load_yaml(rendered.text)
        step = "model"
        spec = schema.parse(document)
        step = "accepted"
        return Submission(spec, accepted(spec, config, pool, variables.environment), pool)
    except Refusal as refusal:
        refusal.add_note(step)
        raise


def run_workflow(vector: Vector) -> tuple[Any, Refusal | None]:
    """Model of a workflow file without default values, in the form of the recording, or the refusal."""
    given = vector["input"]

    def run(_: Any) -> Any:
        return spec_dump(submit(given["file"], configured(given.get("config_override")), given).spec)

    return result_of(run, given)


def spec_dump(spec: Any) -> Any:
    return spec.model_dump(mode="json", exclude_defaults=True)


def expected_spec(vector: Vector) -> Any:
    """Recorded model of a workflow file; the file's own content if the recording says that they are equal."""
    spec = vector["expected"]["spec"]
    if isinstance(spec, dict):
        return spec
    return yaml.safe_load(vector["input"]["file"])["workflow"]
