"""Versions of kubelets, runtimes, kernels and schedulers that none has: each is not known, and ends no check."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from physical_ai.findings import Severity
from tests.support.cases import in_one_test
from tests.support.existing_cluster import found, named
from workbench.preflight.existing.objects import minor, numbers
from workbench.preflight.existing.owners import judge_owners
from workbench.preflight.existing.software import (
    judge_cgroups,
    judge_gateway,
    judge_kernel,
    judge_kubernetes,
    judge_runtime,
)

TOO_LONG = "9" * 5000
ODD = ("v1", "1", "", "unknown", "v", "v1.", "vX.34", "1-gke", TOO_LONG, "١.٢")
WORKER = "node-role.kubernetes.io/runai-gpu-worker"
TODAY = datetime.date(2026, 11, 22)


def ascii_of(text: str) -> str:
    return ascii(text[:12])


def node(**info: Any) -> dict[str, Any]:
    return {"metadata": {"name": "n", "labels": {WORKER: "true"}}, "status": {"nodeInfo": info}}


@in_one_test("version", [each for each in ODD if minor(node(kubeletVersion=each)) is None], ids=ascii_of)
def test_a_version_without_a_minor_is_not_known(version: str) -> None:
    (finding,) = judge_kubernetes([node(kubeletVersion=version)], "v26.7.1", TODAY)
    assert "No kubelet reports its version" in f"{finding}"
    (cgroups,) = judge_cgroups([node(kubeletVersion=version)])
    assert cgroups.severity is Severity.UNKNOWN


@in_one_test("version", [each for each in ODD if minor(node(kubeletVersion=each)) is None], ids=ascii_of)
def test_runais_range_is_compared_with_the_minors_that_are_known(version: str) -> None:
    """A number alone is below every range."""
    nodes = [node(kubeletVersion=version)]
    given = found(deployments=[named("runai-scheduler", "runai")], nodes=nodes)
    texts = [each.problem for each in judge_owners(given, {}, {})]
    assert not any("supports Kubernetes" in each for each in texts), texts


@in_one_test("version", ODD, ids=ascii_of)
def test_containerd_of_an_unknown_version_is_not_too_old(version: str) -> None:
    given = [node(containerRuntimeVersion=f"containerd://{version}")]
    severities = {each.severity for each in judge_runtime(given, nri=True)}
    assert numbers(version) or severities == {Severity.UNKNOWN}
    assert all(each.severity is not Severity.ERROR for each in judge_gateway(given))
    assert list(judge_kernel([node(kernelVersion=version)]))


@pytest.mark.parametrize(("text", "parts"), [("v1.32.5", (1, 32)), ("1.35", (1, 35)), ("v1.36.0-rc.1+k3s1", (1, 36))])
def test_a_minor_is_read_from_the_forms_that_kubelets_have(text: str, parts: tuple[int, int]) -> None:
    assert minor(node(kubeletVersion=text)) == parts
