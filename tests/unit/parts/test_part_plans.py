"""Plans of parts that name what does not exist: faults with file, function and the nearest name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from parts.part import PartPlan, SecretPlan
from parts.registry import PARTS
from physical_ai.input_errors import PartError
from physical_ai.planning.part_plans import plan_faults, planned_by
from physical_ai.settings import Overlay, load

PART = next(part for part in PARTS if part.name == "traces")
SETTINGS = load(
    "dev-westus2",
    [Overlay.assign(["monitoring.traces.endpoint=https://otlp.contoso.com", "monitoring.traces.headerSecrets.k=key"])],
)
PLAN = SETTINGS.plan.parts["traces"]
RELEASE = PLAN.releases[0]


def changed(**fields: Any) -> list[str]:
    return [str(each).replace("\n", "") for each in plan_faults(PART, replace(PLAN, **fields), SETTINGS.settings)]


def policy(namespace: str) -> dict[str, Any]:
    return {"kind": "NetworkPolicy", "metadata": {"name": "a", "namespace": namespace}}


def test_a_plan_that_fits_has_no_faults() -> None:
    assert isinstance(PLAN, PartPlan)
    assert changed() == []
    assert changed(before=(policy("kube-system"), {"kind": "Namespace", "metadata": {"name": "a"}})) == []


@pytest.mark.parametrize(
    "fields",
    [
        {"before": (policy("telemetri"),)},
        {"after": (policy("telemetri"),)},
        {"releases": (replace(RELEASE, objects=(policy("telemetri"),)),)},
    ],
)
def test_an_object_in_a_namespace_that_no_file_declares_is_named(fields: dict[str, Any]) -> None:
    (text,) = changed(**fields)
    assert text == (
        "parts/traces/plan.py: traces_plan  The NetworkPolicy a is in the namespace 'telemetri', which no file "
        "declares.  Did you mean 'telemetry'?"
    )


def test_a_secret_that_the_part_does_not_require_is_named() -> None:
    (text,) = changed(secrets=(SecretPlan("a", "telemetry", "a", {"HEADER_0": "kei"}),))
    assert text == (
        "parts/traces/plan.py: traces_plan  The Secret a has the stack's secret 'kei', which the part does not require."
        "  Did you mean 'key'?"
    )
    (text,) = changed(secrets=(SecretPlan("a", "telemetry", "a", {"HEADER_0": "password"}),))
    assert text.endswith("Return it from parts/traces/part.py: secrets too, with its setting.")
    (text,) = changed(secrets=(SecretPlan("a", "telemetri", "a", {}),))
    assert "The Secret a is in the namespace 'telemetri'" in text


def test_a_need_that_is_no_earlier_release_is_named() -> None:
    other = replace(RELEASE, key="other", needs=("releas",))
    (text,) = changed(releases=(RELEASE, other))
    assert text == (
        "parts/traces/plan.py: traces_plan  The release 'other' needs 'releas', and no release before it has this key."
        "  Did you mean 'release'?"
    )
    assert len(changed(releases=(replace(other, needs=("release",)), RELEASE))) == 1


@pytest.mark.parametrize(
    ("answer", "place", "advice"),
    [
        ((replace(PLAN, releases=("traces",)), []), "releases", "A str is in it.\n  Write a ReleasePlan in its place."),
        ((replace(PLAN, after=([],)), []), "after", "Write a Kubernetes object in its place."),
        ((replace(PLAN, secrets=({},)), []), "secrets", "Write a SecretPlan in its place."),
        ((replace(PLAN, releases=(replace(RELEASE, namespaces="a"),)), []), "namespaces", 'Write namespaces=("a",).'),
        ((replace(PLAN, releases=(replace(RELEASE, needs="a"),)), []), "needs", 'Write needs=("a",).'),
        ((replace(PLAN, releases=(replace(RELEASE, chart="traces"),)), []), "chart", "a text, not a pinned chart"),
        ((replace(PLAN, releases=(replace(RELEASE, values=[]),)), []), "values", "is a list, not a mapping"),
        ((replace(PLAN, releases=(replace(RELEASE, timeout_seconds=True),)), []), "timeout_seconds", "whole number"),
        ((replace(PLAN, secrets=(SecretPlan("a", "b", "c", ()),)), []), "data", "SecretPlan is a tuple, not a"),  # pyright: ignore[reportArgumentType] # a wrong one
        ((PLAN, ["a"]), "", "Return a list of Fault, or []."),
        ((PLAN, None), "", "Return a list of Fault, or []."),
    ],
)
def test_a_plan_of_another_kind_is_named(answer: tuple[Any, Any], place: str, advice: str) -> None:
    with pytest.raises(PartError) as raised:
        planned_by(PART, answer)
    assert str(raised.value).startswith(f"parts/traces/plan.py: traces_plan{f': {place}' if place else ''}\n")
    assert advice in str(raised.value)
