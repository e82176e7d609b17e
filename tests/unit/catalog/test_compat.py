"""Versions that work together, versions that don't, and what the rules say about the latter."""

from __future__ import annotations

import datetime
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from physical_ai.catalog import (
    chart,
    kubernetes_minor,
    kubernetes_phase,
    newest_release,
    pinned_charts,
)
from physical_ai.catalog.compat import (
    GpuStack,
    judge_stack,
)
from physical_ai.catalog.gpu_load import (
    node_images,
    operator_releases,
)
from physical_ai.catalog.gpu_lookup import builds, within
from physical_ai.findings import Severity
from tests.support.cases import in_one_test
from tests.support.examples import examples

TODAY = datetime.date(2026, 11, 20)
NOBLE, JAMMY, AZURE_LINUX = (node_images()[name] for name in ("Ubuntu 24.04", "Ubuntu 22.04", "AzureLinux 3.0"))
GOOD = GpuStack("v26.7.1", "1.36", NOBLE, runtime_config_source="file", driver="580.173.02")
SEED = GpuStack("v25.3.4", "1.32.5", JAMMY, containerd="2.0.5", driver="580.82.07", driver_owner="ClusterPolicy")
REFERENCE = GpuStack("v26.3.2", "1.35", NOBLE, toolkit="1.17.8-ubuntu20.04", cdi=False, driver="580.126.20")


def found(stack: GpuStack, today: datetime.date = TODAY) -> dict[str, Severity]:
    return {verdict.rule: verdict.severity for verdict in judge_stack(stack, today)}


def changed(**changes: Any) -> dict[str, Severity]:
    return found(replace(GOOD, **changes))


def test_the_default_combination_has_nothing_against_it() -> None:
    assert GOOD.operator == newest_release().version
    assert found(GOOD) == {"operator-unverified": "info"}


@pytest.mark.parametrize(("production", "severity"), [(True, "error"), (False, "warning")])
def test_a_release_with_an_advisory_gives_way_to_the_one_that_fixes_it(production: bool, severity: str) -> None:
    advised = judge_stack(replace(GOOD, operator="v26.7.0", production=production), TODAY)
    (verdict,) = [each for each in advised if each.rule == "operator-advisory"]
    assert (verdict.severity, verdict.fix) == (severity, "Use v26.7.1.")
    assert verdict.problem == "GPU Operator v26.7.0 has a security advisory, CGA-w57w-g8hc-fcmw; v26.7.1 fixes it."
    assert "operator-advisory" not in found(replace(GOOD, production=production))


def test_a_release_that_is_only_known_to_exist_is_a_warning_where_a_read_one_is_newer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read = newest_release().model_copy(update={"version": "v26.7.2", "unverified": ()})
    monkeypatch.setitem(operator_releases(), "v26.7.2", read)
    monkeypatch.setitem(pinned_charts(), ("gpu-operator", "v26.7.2"), chart("gpu-operator", "v26.7.1"))
    assert found(GOOD)["operator-unverified"] == "warning"


def test_the_seeds_own_set_worked_then_and_is_out_of_support_now() -> None:
    assert found(SEED, datetime.date(2025, 10, 1)) == {
        "chart-null-plugin": "warning",
        "chart-checksum-unknown": "info",
    }
    assert found(SEED) == {
        "operator-end-of-support": "error",
        "kubernetes-end-of-support": "error",
        "chart-null-plugin": "warning",
        "chart-checksum-unknown": "info",
    }


def test_the_reference_avoids_the_drop_in_with_a_pin_and_gets_a_better_suggestion() -> None:
    rules = found(REFERENCE)
    assert "containerd-drop-in" not in rules
    assert rules["toolkit-old"] == "warning"
    assert found(replace(REFERENCE, toolkit=None))["containerd-drop-in"] == "error"
    assert "chart-checksum-unknown" not in rules


RTX: dict[str, Any] = {
    "driver": "595.91.07",
    "driver_kind": "grid",
    "gpu": "RTX PRO 6000 Blackwell Server Edition",
}
A10: dict[str, Any] = {"driver": "570.237", "driver_kind": "grid", "gpu": "A10"}

RULES: list[tuple[str, dict[str, Any], str]] = [
    ("operator-unknown", {"operator": "v26.9.0"}, "error"),
    ("operator-end-of-support", {"operator": "v25.10.1"}, "error"),
    ("operator-deprecated", {"operator": "v26.3.3"}, "warning"),
    ("operator-advisory", {"operator": "v26.7.0"}, "warning"),
    ("kubernetes-too-new", {"kubernetes": "1.37"}, "warning"),
    ("kubernetes-too-new", {"kubernetes": "1.37.1", "operator": "v26.3.3"}, "error"),
    ("kubernetes-too-new", {"operator": "v26.3.0"}, "error"),
    ("kubernetes-too-old", {"kubernetes": "1.32.5"}, "error"),
    ("kubernetes-range-unknown", {"operator": "v25.10.1"}, "info"),
    ("kubernetes-not-offered", {"kubernetes": "1.31"}, "error"),
    ("kubernetes-end-of-support", {"kubernetes": "1.33.1"}, "error"),
    ("containerd-untested", {"image": JAMMY}, "warning"),
    ("containerd-untested", {"containerd": "2.4.0"}, "warning"),
    ("containerd-drop-in", {"runtime_config_source": None}, "error"),
    ("containerd-drop-in", {"runtime_config_source": "command"}, "error"),
    ("toolkit-loses-imports", {"toolkit": "v1.18.0"}, "error"),
    ("toolkit-old", {"toolkit": "1.19.1"}, "warning"),
    ("toolkit-schema", {"toolkit": "1.17.8", "image": NOBLE.model_copy(update={"config_version": 4})}, "error"),
    ("nri-unknown", {"operator": "v25.10.1", "nri": True}, "error"),
    ("nri-without-cdi", {"nri": True, "cdi": False}, "error"),
    ("nri-without-cdi", {"nri": True, "cdi": False, "operator": "v26.3.3"}, "error"),
    ("nri-containerd", {"nri": True, "containerd": "1.7.29"}, "error"),
    ("nri-containerd", {"nri": True, "containerd": "2.0.5"}, "error"),
    ("nri-not-production", {"nri": True}, "warning"),
    ("driver-unlisted", {"driver": "580.65.06"}, "warning"),
    ("driver-unlisted", {"driver": "595.99.01"}, "warning"),
    ("driver-unknown", {"driver": "599.10.01"}, "error"),
    ("driver-kind", {"driver": "595.58.03"}, "error"),
    ("driver-kind", {"driver": "580.173.02", "driver_kind": "grid"}, "error"),
    ("driver-end-of-life", {"driver": "535.309.01"}, "warning"),
    ("driver-end-of-life", {"driver": "610.57.04"}, "warning"),
    ("driver-mig-bug", {"driver": "570.148.08", "mig": True}, "error"),
    ("driver-mig-bug", {"driver": "570.148.08"}, "warning"),
    ("driver-no-image", {"image": AZURE_LINUX}, "error"),
    ("driver-no-image", {"image": NOBLE.model_copy(update={"release": "20.04"})}, "error"),
    ("driver-cr-preview", {"operator": "v25.3.4"}, "warning"),
    ("driver-cr-new-installs", {"operator": "v26.3.3"}, "info"),
    ("driver-unlisted", {**RTX, "driver": "595.99.01"}, "warning"),
    ("driver-unlisted", {**RTX, "driver": "599.10.01"}, "warning"),
    ("vgpu-host-branch", {**RTX, "driver": "570.237"}, "error"),
    ("vgpu-host-branch", {**A10, "driver": "595.91.07"}, "warning"),
    ("vgpu-host-previous", {**RTX, "driver": "580.105.08"}, "info"),
    ("grid-kernel", {**RTX, "image": NOBLE.model_copy(update={"kernel": "6.11"})}, "error"),
    ("precompiled-version", {"precompiled": True}, "error"),
    ("precompiled-branch", {"precompiled": True, "driver": "535"}, "error"),
    ("precompiled-kernel", {"precompiled": True, "driver": "595"}, "warning"),
    ("chart-null-plugin", {"operator": "v25.10.1"}, "warning"),
]


@in_one_test(("rule", "changes", "severity"), RULES)
def test_a_change_for_the_worse_is_reported_by_its_rule(rule: str, changes: dict[str, Any], severity: str) -> None:
    assert changed(**changes).get(rule, "absent") == severity
    assert rule not in found(GOOD)


FINE: list[tuple[str, dict[str, Any]]] = [
    ("containerd-drop-in", {"runtime_config_source": "file,command"}),
    ("containerd-drop-in", {"runtime_config_source": None, "nri": True}),
    ("containerd-drop-in", {"runtime_config_source": None, "image": JAMMY}),
    ("containerd-drop-in", {"runtime_config_source": None, "toolkit": "1.17.8"}),
    ("nri-containerd", {"nri": True, "containerd": "1.7.30"}),
    ("driver-mig-bug", {"driver": "570.86.15", "mig": True}),
    ("driver-mig-bug", {"driver": "580.82.07", "mig": True}),
    ("driver-no-image", {"image": AZURE_LINUX, "driver": None}),
    ("driver-cr-preview", {"operator": "v25.3.4", "driver_owner": "ClusterPolicy"}),
    ("vgpu-host-branch", RTX),
    ("vgpu-host-previous", RTX),
    ("vgpu-host-branch", {**RTX, "driver": "580.105.08"}),
    ("vgpu-host-branch", A10),
    ("vgpu-host-branch", {**RTX, "gpu": None, "driver": "570.237"}),
    ("grid-kernel", RTX),
    ("driver-unlisted", RTX),
    ("precompiled-version", {"precompiled": True, "driver": "580"}),
    ("kubernetes-too-new", {"operator": "v26.3.2"}),
    ("kubernetes-too-new", {"kubernetes": "1.36.9"}),
]


@in_one_test(("rule", "changes"), FINE)
def test_the_fix_of_a_rule_satisfies_it(rule: str, changes: dict[str, Any]) -> None:
    assert rule not in changed(**changes)


def test_the_drop_in_verdict_names_schemas_and_the_setting() -> None:
    (verdict,) = [
        v for v in judge_stack(replace(GOOD, runtime_config_source=None), TODAY) if v.rule == "containerd-drop-in"
    ]
    assert "version 4 drop-in beside the version 2" in verdict.problem
    assert "runtimeConfigSource: file" in (verdict.fix or "")
    assert "2646" in (verdict.source or "")


@pytest.mark.parametrize(
    ("minor", "day", "phase", "rule"),
    [
        ("1.32", "2025-10-01", "supported", None),
        ("1.32", "2026-04-01", "platform", ("kubernetes-end-of-support", "warning")),
        ("1.32", "2026-06-01", "gone", ("kubernetes-end-of-support", "error")),
        ("1.34", "2026-11-30", "supported", None),
        ("1.34", "2026-12-01", "platform", ("kubernetes-end-of-support", "warning")),
        ("1.37", "2026-09-30", "due", ("kubernetes-not-yet", "warning")),
        ("1.37", "2026-10-01", "supported", None),
    ],
)
def test_a_kubernetes_minor_is_released_ages_and_is_removed(
    minor: str, day: str, phase: str, rule: tuple[str, str] | None
) -> None:
    date = datetime.date.fromisoformat(day)
    assert kubernetes_phase(kubernetes_minor(minor), date) == phase
    aks = {"kubernetes-end-of-support", "kubernetes-not-yet", "kubernetes-not-offered"}
    reported = [(v.rule, v.severity) for v in judge_stack(replace(GOOD, kubernetes=minor), date) if v.rule in aks]
    assert reported == ([rule] if rule else [])


quick = examples(200)
STACKS = st.builds(
    GpuStack,
    operator=st.one_of(
        st.sampled_from([*operator_releases(), "v99.0.0"]), st.from_regex(r"v\d\d\.\d\.\d", fullmatch=True)
    ),
    kubernetes=st.from_regex(r"1\.(2|3)\d(\.\d{1,2})?", fullmatch=True),
    image=st.sampled_from([*node_images().values()]),
    containerd=st.sampled_from([None, "1.6.0", "1.7.34", "2.0.5", "2.3.0", "3.0.0"]),
    toolkit=st.sampled_from([None, "v1.17.8-ubuntu20.04", "1.18.0", "1.20.0"]),
    runtime_config_source=st.sampled_from([None, "file", "command", "command,file", "file,command"]),
    cdi=st.sampled_from([None, True, False]),
    nri=st.booleans(),
    driver=st.one_of(st.none(), st.sampled_from([*builds("datacenter"), *builds("grid"), "580", "999.10"])),
    driver_kind=st.sampled_from(["datacenter", "grid"]),
    driver_owner=st.sampled_from(["NVIDIADriver", "ClusterPolicy"]),
    precompiled=st.booleans(),
    mig=st.booleans(),
)


@quick
@given(STACKS, st.dates(datetime.date(2025, 1, 1), datetime.date(2030, 1, 1)))
def test_any_combination_is_judged_and_every_verdict_has_a_source_and_a_fix(
    stack: GpuStack, today: datetime.date
) -> None:
    for verdict in judge_stack(stack, today):
        assert verdict.rule
        assert verdict.problem.endswith((".", "?"))
        assert verdict.source
        assert verdict.fix


@quick
@given(st.integers(0, 3), st.integers(0, 40), st.integers(0, 20))
def test_a_patch_of_the_newest_minor_lies_within(major: int, minor: int, patch: int) -> None:
    bounds = (f"{major}.{minor}", f"{major}.{minor}")
    assert within(f"{major}.{minor}.{patch}", bounds) == 0
    assert within(f"{major}.{minor + 1}", bounds) == 1
