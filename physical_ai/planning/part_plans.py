"""Checks of the plans of optional parts: values of the right kind, and names of charts, namespaces, releases and
secrets that exist.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from parts.part import Part, PartPlan, ReleasePlan, SecretPlan
from physical_ai.catalog.charts import Chart
from physical_ai.catalog.lookup import nearest
from physical_ai.input_errors import PartError
from physical_ai.planning import manifests
from physical_ai.planning.part_files import ENFORCE
from physical_ai.settings.faults import Fault, fault
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.part_answers import answers, needed_secrets, place_of

_CONTENTS: Mapping[str, tuple[type, str]] = {
    "releases": (ReleasePlan, "a ReleasePlan"),
    "before": (Mapping, "a Kubernetes object"),
    "secrets": (SecretPlan, "a SecretPlan"),
    "after": (Mapping, "a Kubernetes object"),
}
"""Type of what is in each tuple of a plan, and its name."""
_OF_RELEASE: Mapping[str, type] = {
    "key": str,
    "name": str,
    "namespaces": tuple,
    "chart": Chart,
    "values": Mapping,
    "needs": tuple,
    "skip_await": bool,
    "timeout_seconds": int,
    "objects": tuple,
}
"""Type of each field of a release."""
_OF_SECRET: Mapping[str, type] = {"key": str, "namespace": str, "name": str, "data": Mapping}
"""Type of each field of a Secret."""
_WORDS: Mapping[type, str] = {
    str: "a text",
    tuple: "a tuple",
    Chart: "a pinned chart",
    Mapping: "a mapping",
    bool: "True or False",
    int: "a whole number",
}
KUBERNETES = ("default", "kube-public", "kube-system")
"""Namespaces that every cluster has."""


def planned_by(part: Part, answer: object) -> tuple[PartPlan | None, list[Fault]]:
    """Plan and faults that a part's function has returned. Raises PartError if it has returned something else."""
    file = f"parts/{part.name}/plan.py: {getattr(part.plan, '__name__', 'plan')}"
    if not isinstance(answer, tuple) or len(answer := cast("tuple[Any, ...]", answer)) != 2:
        raise PartError(f"{file}\n  The function returns one value.\n  Return the plan, or None, and a list of faults.")
    planned, faults = answer
    if planned is not None and not isinstance(planned, PartPlan):
        raise PartError(f"{file}\n  The plan is a {type(planned).__name__}.\n  Return a PartPlan, or None.")
    if planned is not None:
        _check_plan(file, planned)
    listed = [*cast("list[Any]", faults)] if isinstance(faults, (list, tuple)) else [faults]
    if not all(isinstance(each, Fault) for each in listed):
        raise PartError(f"{file}\n  The second value is no list of faults.\n  Return a list of Fault, or [].")
    return planned, listed


def _check_plan(file: str, planned: PartPlan) -> None:
    """Checks the kinds of all fields of a plan, its releases and its secrets. Raises PartError."""
    for key, (kind, named) in _CONTENTS.items():
        value: Any = getattr(planned, key)
        if not isinstance(value, tuple):
            raise PartError(f"{file}: {key}\n  The value of PartPlan is no tuple.\n  Write {key}=(…,).")
        for each in cast("tuple[Any, ...]", value):
            if not isinstance(each, kind):
                raise PartError(f"{file}: {key}\n  A {type(each).__name__} is in it.\n  Write {named} in its place.")
    for each in planned.releases:
        _check_fields(file, each, _OF_RELEASE)
    for each in planned.secrets:
        _check_fields(file, each, _OF_SECRET)


def _check_fields(file: str, whole: ReleasePlan | SecretPlan, kinds: Mapping[str, type]) -> None:
    for key, kind in kinds.items():
        value: Any = getattr(whole, key)
        if isinstance(value, kind) and not (kind is int and isinstance(value, bool)):
            continue
        found = "text" if isinstance(value, str) else type(value).__name__
        problem = f"The value of {type(whole).__name__} is a {found}, not {_WORDS[kind]}."
        fix = f'Write {key}=("{value}",).' if kind is tuple and isinstance(value, str) else f"Write {_WORDS[kind]}."
        raise PartError(f"{file}: {key}\n  {problem}\n  {fix}")


def part_policies(part: Part, settings: Settings) -> list[Mapping[str, Any]]:
    """Admission policies of a part about nodes. Raises PartError if the part's function returns something else."""
    return answers(part, "node_policies", settings, Mapping, "a Kubernetes object")


def plan_faults(part: Part, plan: PartPlan, settings: Settings) -> Iterator[Fault]:
    """Faults in a part's plan for a stack."""
    yield from _chart_faults(part, plan)
    yield from _namespace_faults(part, plan)
    yield from _need_faults(part, plan)
    yield from _secret_faults(part, plan, settings)


def _chart_faults(part: Part, plan: PartPlan) -> Iterator[Fault]:
    for release in plan.releases:
        if release.chart.name not in part.charts:
            problem = f"plan.py installs the chart {release.chart.name}, which has no owned keys."
            fix = "Add the chart, with the keys that no file may set."
            yield fault(f"parts/{part.name}/part.py", "owned", problem, fix)


def _namespace_faults(part: Part, plan: PartPlan) -> Iterator[Fault]:
    """Faults of namespaces that no file declares: Kubernetes would refuse what is created in them."""
    spaces = {*KUBERNETES, *(str(each["metadata"]["name"]) for each in manifests.namespaces())}
    for name in dict.fromkeys(name for release in plan.releases for name in release.namespaces):
        if name not in spaces:
            problem = "plan.py installs a release into this namespace, which no file declares."
            fix = f"Write a Namespace of that name with a Pod Security level in its label {ENFORCE}."
            yield fault(f"parts/{part.name}/{manifests.NAMESPACES}", name, problem, fix)
    for title, name in dict.fromkeys([*_secret_places(plan), *_object_places(plan)]):
        if name not in spaces:
            file, key = place_of(part, "plan").split(": ")
            fix = _near(name, spaces, f"Declare it in {manifests.NAMESPACES}.")
            yield fault(file, key, f"{title} is in the namespace '{name}', which no file declares.", fix)


def _secret_places(plan: PartPlan) -> Iterator[tuple[str, str]]:
    for each in plan.secrets:
        yield f"The Secret {each.name}", each.namespace


def _object_places(plan: PartPlan) -> Iterator[tuple[str, str]]:
    objects = [*plan.before, *plan.after, *(each for release in plan.releases for each in release.objects)]
    for each in objects:
        metadata: Mapping[str, Any] = each.get("metadata") or {}
        if "namespace" in metadata:
            yield f"The {each.get('kind')} {metadata.get('name')}", str(metadata["namespace"])


def _need_faults(part: Part, plan: PartPlan) -> Iterator[Fault]:
    """Faults of needs that are no earlier release of the part. Releases are declared in the order of the plan."""
    file, key = place_of(part, "plan").split(": ")
    earlier: list[str] = []
    for release in plan.releases:
        for need in (each for each in release.needs if each not in earlier):
            problem = f"The release '{release.key}' needs '{need}', and no release before it has this key."
            yield fault(file, key, problem, _near(need, earlier, "Name a release that stands before it, or nothing."))
        earlier.append(release.key)


def _secret_faults(part: Part, plan: PartPlan, settings: Settings) -> Iterator[Fault]:
    """Faults of secrets in a plan that the part's function `secrets` does not require: a stack without one would fail
    only while it is deployed.
    """
    required = [name for _, name in needed_secrets(part, settings)]
    file, key = place_of(part, "plan").split(": ")
    for secret in plan.secrets:
        for name in (each for each in secret.data.values() if each not in required):
            problem = f"The Secret {secret.name} has the stack's secret '{name}', which the part does not require."
            fix = _near(name, required, f"Return it from {place_of(part, 'secrets')} too, with its setting.")
            yield fault(file, key, problem, fix)


def _near(name: str, known: Iterable[str], otherwise: str) -> str:
    found = nearest(name, known)
    return f"Did you mean '{found}'?" if found else otherwise
