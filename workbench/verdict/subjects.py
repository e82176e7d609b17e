"""Conversion of declared resources to ARM's view of them: ids, bodies and dependencies. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any, cast

from physical_ai.catalog.azure_native import by_token
from workbench.verdict import bodies
from workbench.verdict.expressions import Names, Values, reference
from workbench.verdict.model import Recorded, Subject

AZURE = "azure-native:"
_END = "\0"
"""Mark between the texts of a body, which no text has."""


def subjects(
    recorded: Iterable[Recorded], subscription: str, fixed: Mapping[str, str]
) -> tuple[list[Subject], dict[str, Any], list[tuple[str, str]]]:
    """Converts declared resources for the templates. Returns the resources in the order of creation, template
    parameters for their secrets, and the resources that cannot be in a template, each with the reason.

    Args:
        fixed: Template expressions by placeholder in the recording, for example for the tenant's id.
    """
    named, left_out = _named(recorded, subscription)
    ids = {each.recorded_id: real for real, each in named.items() if each.recorded_id and each.recorded_id != real}
    expressions = dict(fixed)
    for real, each in named.items():
        version = bodies.api_version(by_token()[each.type], each.inputs)
        expressions |= {stand_in: reference(real, version, path) for stand_in, path in each.computed.items()}
    values = Values(Names(ids, expressions))
    made = [_subject(real, each, values) for real, each in named.items()]
    lower = [(each.resource_id.lower(), each) for each in made]
    return _ordered([_depending(each, lower) for each in made]), values.parameters, left_out


def _named(recorded: Iterable[Recorded], subscription: str) -> tuple[dict[str, Recorded], list[tuple[str, str]]]:
    """Resources by their ARM id, and resources whose type the catalogue does not know, each with the reason."""
    found: dict[str, Recorded] = {}
    left_out: list[tuple[str, str]] = []
    azure_resources = [each for each in recorded if each.type.startswith(AZURE)]
    known = [each for each in azure_resources if each.type in by_token()]
    for each in azure_resources:
        if each.type not in by_token():
            reason = "azure-native's request for this type is not in physical_ai/catalog/data/azure_native.json"
            left_out.append((f"{each.type.rpartition(':')[2]} {each.name}", reason))
    aliases = {
        each.recorded_id: bodies.resource_id(by_token()[each.type], each.inputs, subscription)
        for each in known
        if each.recorded_id and "scope" not in each.inputs
    }
    rename = Values(Names({old: new for old, new in aliases.items() if old != new}, {}))
    for each in known:
        mapping = by_token()[each.type]
        # The id of the resource on which something is assigned is a part of the assignment's id.
        inputs = {
            name: rename.id(value) if name in mapping.path_params and isinstance(value, str) else value
            for name, value in each.inputs.items()
        }
        real = bodies.resource_id(mapping, inputs, subscription)
        found[real] = Recorded(each.type, each.name, inputs, each.recorded_id, each.computed)
    return found, left_out


def _subject(real: str, recorded: Recorded, values: Values) -> Subject:
    mapping = by_token()[recorded.type]
    body = values.value(bodies.body(mapping, recorded.inputs))
    arm_type = bodies.arm_type(mapping, recorded.inputs)
    version = bodies.api_version(mapping, recorded.inputs)
    return Subject(real, recorded.type, recorded.name, arm_type, version, cast("dict[str, Any]", body))


def _depending(subject: Subject, every: Iterable[tuple[str, Subject]]) -> Subject:
    """The subject with its dependencies among the subjects `every`, each with its id in lower case."""
    text = _END.join(_texts(subject.body)).lower()
    own = subject.resource_id.lower()
    found: list[str] = []
    for wanted, other in every:
        if other is subject or wanted.startswith(f"{own}/"):
            continue
        # Resources in a group do not depend on the group: their nested deployment does.
        is_group = other.arm_type == "Microsoft.Resources/resourceGroups"
        if not is_group and (own.startswith(f"{wanted}/") or _names(text, wanted)):
            found.append(other.resource_id)
    return Subject(
        subject.resource_id,
        subject.type,
        subject.name,
        subject.arm_type,
        subject.api_version,
        subject.body,
        tuple(found),
    )


def _names(text: str, wanted: str) -> bool:
    """True if a text contains the id `wanted`, or the id of a child resource of `wanted`."""
    at = text.find(wanted)
    while at >= 0:
        following = text[at + len(wanted) : at + len(wanted) + 1]
        if following in ("", _END, "/", "'"):
            return True
        at = text.find(wanted, at + 1)
    return False


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, item in cast("Mapping[str, Any]", value).items():
            yield name
            yield from _texts(item)
    elif isinstance(value, list):
        for each in cast("list[Any]", value):
            yield from _texts(each)


def _ordered(made: list[Subject]) -> list[Subject]:
    """The resources, each after the resources that it depends on. If dependencies form a circle, the resources are in
    the given order.
    """
    by_id = {each.resource_id: each for each in made}
    try:
        order = TopologicalSorter({each.resource_id: each.depends_on for each in made}).static_order()
        return [by_id[each] for each in order]
    except CycleError:
        return made
