"""A second run of the program over its first one changes nothing, as Pulumi's Kubernetes plugin reads its inputs.

The plugin keeps other inputs than the program gives, and the API server other objects. A value that is made anew in
each run, an option that ignores a property which the state does not have, and an empty map that the server drops are
differences for ever.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import pytest

from simulator.kubernetes.checking import check_object
from simulator.kubernetes.diffing import Mutability, diff_objects
from simulator.kubernetes.objects import RELEASE_TYPE, Object, is_patch, metadata
from simulator.kubernetes.scopes import Scopes
from simulator.wire import UNKNOWN, Request, changes
from tests.support.recording import TODAY, HookRecorder, run_program, stack_config
from tests.support.stacks import STACKS
from tests.unit.conftest import Simulate
from workbench.policies.model import UNKNOWN as OPEN
from workbench.policies.model import Resource, Secret

EXAMPLE: dict[str, Any] = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "login", "namespace": "default"}}
DATA = {"data": {"word": "b25l"}}
"""`one`, as the plugin keeps it."""


class SecondRun(HookRecorder):
    """Answers registrations as the engine does over the first run's state: what a Stash holds is of the first run."""

    def __init__(self, before: Mapping[str, Resource]) -> None:
        super().__init__(preview=False)
        self._before = before

    def RegisterResource(self, request: Any) -> Any:
        answer = super().RegisterResource(request)
        if request.type == "pulumi:index:Stash":
            kept = self._before[answer.urn].inputs["input"]
            answer.object.update({"input": kept, "output": kept})
        return answer


def open_values(value: Any) -> Any:
    """Inputs as a plugin gets them."""
    if isinstance(value, Secret):
        return open_values(value.value)
    if value is OPEN:
        return UNKNOWN
    if isinstance(value, dict):
        return {key: open_values(item) for key, item in value.items()}
    return [open_values(item) for item in value] if isinstance(value, list) else value


def checked(type: str, inputs: Object, old: Object) -> Object:
    """What the state keeps as the inputs of an object."""
    name = str(metadata(inputs).get("name"))
    found, failures = check_object(Request("urn", type, name), old, inputs, Scopes(None), "default")
    assert failures == []
    return found


def after_ignoring(old: Object, new: Object, ignored: tuple[str, ...]) -> Object:
    """The engine's own part: an ignored property is that of the state, also where the state has none."""
    result = copy.deepcopy(new)
    for path in ignored:
        held, into = old, result
        *parents, last = path.split(".")
        for part in parents:
            held, into = held.get(part, {}), into.get(part, {})
        if last in held:
            into[last] = held[last]
        else:
            into.pop(last, None)
    return result


def as_served(obj: Object) -> Object:
    """The object as every API server keeps it: `metadata` has no empty maps or lists."""
    held = {key: value for key, value in metadata(obj).items() if value not in ({}, [])}
    return {**obj, "metadata": held}


def second_run(type: str, first: Object, second: Object, ignored: tuple[str, ...] = ()) -> Mapping[str, str]:
    """Paths that a second run of the program would change, of an object that nobody has touched."""
    old = checked(type, first, {})
    new = checked(type, after_ignoring(old, second, ignored), old)
    options = {"namespaced": True, "mutability": Mutability(), "patch": is_patch(type, new)}
    return diff_objects(old, as_served(old), new, **options).changes


def differences(resource: Resource, first: Resource) -> Mapping[str, str]:
    old, new, ignored = open_values(first.inputs), open_values(resource.inputs), resource.options.ignore_changes
    if resource.type.startswith("kubernetes:") and resource.type != RELEASE_TYPE:
        return second_run(resource.type, old, new, ignored)
    return changes(old, after_ignoring(old, new, ignored))


DISTINCT = ("dev-westus2", "onprem-lab", "prod-westeurope")
"""Stacks that `make test` runs twice: a laptop's, one on a cluster of others, and one with everything."""


@pytest.mark.parametrize(
    "stack", [pytest.param(each, marks=() if each in DISTINCT else pytest.mark.deep) for each in STACKS]
)
def test_a_second_run_of_a_stack_changes_nothing(stack: str, simulate: Simulate) -> None:
    first = {each.urn: each for each in simulate(stack).resources}
    recorder = SecondRun(first)
    run_program(recorder, stack, stack_config(stack), simulated=True, today=TODAY)
    second = {each.urn: each for each in recorder.declared_resources}
    assert second.keys() == first.keys()
    found = {urn.rpartition("$")[2]: differences(each, first[urn]) for urn, each in second.items()}
    assert {name: paths for name, paths in found.items() if paths} == {}


@pytest.mark.parametrize(
    ("ignored", "changed"),
    [
        ((), {"data.word": "update"}),
        (("stringData",), {"data": "delete"}),  # the Secret would be emptied
        (("data",), {"data.word": "update"}),
        (("data", "stringData"), {}),
    ],
)
def test_a_value_that_is_made_in_each_run_is_a_change_unless_both_forms_are_ignored(
    ignored: tuple[str, ...], changed: Mapping[str, str]
) -> None:
    first, second = ({**EXAMPLE, "stringData": {"word": word}} for word in ("one", "two"))
    assert checked("kubernetes:core/v1:Secret", first, {}) == {**EXAMPLE, **DATA}
    assert second_run("kubernetes:core/v1:Secret", first, second, ignored) == changed


def test_an_empty_map_that_the_server_drops_is_a_change_in_every_run_of_a_custom_object() -> None:
    rule = {"apiVersion": "monitoring.coreos.com/v1", "kind": "PrometheusRule", "spec": {"groups": []}}
    labelled = {**rule, "metadata": {"name": "a", "namespace": "default", "labels": {}}}
    assert second_run("kubernetes:monitoring.coreos.com/v1:PrometheusRule", labelled, labelled) == {
        "metadata.labels": "add"
    }
    known = {**EXAMPLE, "metadata": {**EXAMPLE["metadata"], "labels": {}}}
    assert second_run("kubernetes:core/v1:Secret", known, known) == {}
