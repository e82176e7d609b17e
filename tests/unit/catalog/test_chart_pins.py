"""Pins of charts: how each is known, and what must not be pinned."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from physical_ai.catalog.charts import (
    Chart,
    Retracted,
    chart,
    pin_problems,
    pinned_charts,
    retracted_charts,
)
from physical_ai.catalog.compat import check_chart
from physical_ai.catalog.compat.tables import key_versions, keys_read
from physical_ai.catalog.gpu_lookup import operator_release
from physical_ai.catalog.lookup import UnknownName
from physical_ai.settings import load
from physical_ai.settings.rules.compat import of_charts
from tests.support.cases import in_one_test

DAY = datetime.date(2026, 11, 27)
PINS = pinned_charts().values()


def pin(version: str, released: datetime.date | None = None, **more: Any) -> Chart:
    tag = {"tag": "0123abc"} if released else {}
    return Chart.model_validate(
        {
            "name": "scheduler",
            "version": version,
            "repository": "oci://registry.example.com/charts",
            "organisation": "example",
            "licence": "Apache-2.0",
            "known": "read" if released else "believed",
            "released": released,
            "source": "example/scheduler",
            "date": DAY,
            **tag,
            **more,
        }
    )


def day(text: str) -> datetime.date:
    return datetime.date.fromisoformat(text)


PROBLEMS: list[tuple[str, list[Chart], str]] = [
    ("a release candidate", [pin("v1.2.0-rc.1")], "is not a release"),
    ("a nightly build", [pin("0.5.0-dev")], "is not a release"),
    (
        "a higher number of an abandoned line",
        [pin("v0.20.1", day("2025-11-30")), pin("v0.17.0", day("2026-08-03"))],
        "v0.20.1 was released on 2025-11-30, before v0.17.0",
    ),
    ("read without a tag", [pin("v1.0.0", known="read")], "was read, so its tag is known"),
    ("a day without a tag", [pin("v1.0.0", day("2026-01-01"), tag=None)], "both its tag and the day"),
    ("keys of the same version", [pin("v1.0.0", keys={"version": "v1.0.0", "reason": "none"})], "has its own keys"),
]


@pytest.mark.parametrize(("case", "pins", "problem"), PROBLEMS, ids=[case for case, _, _ in PROBLEMS])
def test_a_pin_that_only_its_number_recommends_is_refused(case: str, pins: list[Chart], problem: str) -> None:
    assert problem in " ".join(pin_problems(pins))


def test_a_patch_of_an_older_line_may_be_younger_than_the_next_line() -> None:
    pins = [pin("v26.3.4", day("2026-09-20")), pin("v26.7.0", day("2026-08-20"))]
    assert list(pin_problems(pins)) == []


def test_a_retracted_version_is_refused_with_its_reason() -> None:
    taken_back = Retracted(version="v1.1.0", reason="published by mistake", source="example/scheduler#1", date=DAY)
    (problem,) = pin_problems([pin("v1.1.0")], [taken_back])
    assert problem == "scheduler v1.1.0 was retracted: published by mistake (example/scheduler#1)"


@pytest.mark.parametrize("version", ["v0.20.0", "v0.20.1", "0.20.1"])
def test_who_asks_for_a_retracted_version_hears_why(version: str) -> None:
    with pytest.raises(UnknownName, match=r"retracted: .*November 2025|retracted: made only to retract") as refusal:
        chart("kai-scheduler", version)
    assert refusal.value.suggestion == "v0.17.0"


def test_no_pinned_chart_is_retracted() -> None:
    assert not pinned_charts().keys() & retracted_charts().keys()


@in_one_test("chart", PINS, ids=lambda chart: f"{chart.name}-{chart.version}")
def test_keys_were_read_at_the_pinned_version_or_the_pin_says_where(chart: Chart) -> None:
    """A keys file names its versions: keys of another one are an exception with a reason, not an oversight."""
    read = keys_read(chart.name)
    assert (chart.keys.version if chart.keys else chart.version) in read
    if chart.keys:
        assert chart.version not in read
        assert chart.keys.reason


@pytest.mark.parametrize("chart", [pin for pin in PINS if pin.name == "gpu-operator"], ids=lambda pin: pin.version)
def test_keys_of_the_gpu_operator_are_of_the_release_that_its_row_names(chart: Chart) -> None:
    assert operator_release(chart.version).values_of == (chart.keys.version if chart.keys else chart.version)


def test_compat_names_the_charts_of_a_stack_whose_keys_are_of_another_version() -> None:
    problems = {finding.problem for finding in of_charts(load("dev-southeastasia"))}
    assert "The keys of the chart cert-manager v1.21.2 were read at v1.21.1: the tag could not be read." in problems


def test_a_chart_whose_keys_are_its_own_has_no_such_finding() -> None:
    assert list(key_versions(pin for pin in PINS if pin.keys is None)) == []


@in_one_test(
    ("chart", "version", "values"),
    [
        ("kube-prometheus-stack", "88.5.3", {"prometheusOperator": {"affinity": {"nodeAffinity": {}}}}),
        ("kube-prometheus-stack", "82.4.3", {"prometheus": {"thanosService": {"enabled": True}}}),
        ("kube-prometheus-stack", "88.5.3", {"prometheus": {"verticalPodAutoscaler": {"enabled": True}}}),
        ("cert-manager", "v1.21.2", {"imageRegistry": "registry.example.com"}),
        ("network-operator", "v26.7.0", {"keepNCP": True}),
        ("network-operator", "v25.7.0", {"nicConfigurationOperator": {"enabled": False}}),
        ("slurm", "1.2.3", {"nodesetDefaults": {"replicas": 2}}),
        ("service", "1.3.1", {"services": {"ui": {"replicas": 2}}}),
        ("longhorn", "1.7.2", {"persistence": {"dataEngine": "v1"}}),
    ],
)
def test_keys_of_values_yaml_are_known(chart: str, version: str, values: dict[str, Any]) -> None:
    assert check_chart(chart, version, values) == []


@pytest.mark.parametrize(
    ("chart", "version", "values"),
    [
        ("kube-prometheus-stack", "82.4.3", {"prometheus": {"verticalPodAutoscaler": {"enabled": True}}}),
        ("network-operator", "v25.7.0", {"keepNCP": True}),
        ("network-operator", "v26.7.0", {"nicConfigurationOperator": {"enabled": False}}),
        ("service", "1.3.1", {"services": {"ui": {"podAnnotations": {"a": "b"}}}}),
    ],
)
def test_a_key_that_only_another_version_renders_is_refused(chart: str, version: str, values: dict[str, Any]) -> None:
    (finding,) = check_chart(chart, version, values)
    assert finding.is_error
