"""Labels and taints of pools that are invalid."""

from __future__ import annotations

import pytest

from tests.support.cases import in_one_test
from tests.unit.settings.settings_faults import expect, faults_of

PLACEMENT = [
    ("labels={kubernetes.io/x: y}", 'labels["kubernetes.io/x"]', "only Kubernetes and AKS", "example.com/x"),
    ("labels={node.kubernetes.io/x: y}", 'labels["node.kubernetes.io/x"]', "only Kubernetes and AKS", "example.com/x"),
    ("labels={kubernetes.azure.com/mode: y}", 'labels["kubernetes.azure.com/mode"]', "only Kubernetes", "example.com"),
    ("labels={-x: y}", "labels.-x", "is not a key", "team"),
    ("labels={UPPER.com/x: y}", 'labels["UPPER.com/x"]', "not a lowercase domain name", "team"),
    ("labels={a: 'b c'}", "labels.a", "not a label value", None),
    ("labels={physical-ai/gpu-driver: grid}", "labels.physical-ai/gpu-driver", "is set by the program", "Omit"),
    (
        "labels={nvidia.com/gpu.deploy.driver: 'false'}",
        'labels["nvidia.com/gpu.deploy.driver"]',
        "by the program to nothing",
        "driver.source",
    ),
    ("taints=['a=b']", "taints[0]", "not a taint", "key=value:NoSchedule"),
    ("taints=['a=b:NoShedule']", "taints[0]", "not a taint effect", "a=b:NoSchedule"),
    ("taints=['team:NoSchedule']", "taints[0]", "has no value", "team=present:NoSchedule"),
    ("taints=['team=:NoSchedule']", "taints[0]", "has no value", "team=present:NoSchedule"),
    ("taints=['nvidia.com/gpu:NoSchedule']", "taints[0]", "autoscaler drops", "nvidia.com/gpu=present:NoSchedule"),
    ("taints=['nvidia.com/gpu=other:NoSchedule']", "taints[0]", "repeats the key and effect", "Omit it"),
    ("taints=['a=b:NoSchedule', 'a=c:NoSchedule']", "taints[1]", "repeats the key and effect", "another key"),
    ("taints=['kubernetes.azure.com/x=y:NoSchedule']", "taints[0]", "only AKS may use", "your own"),
    ("taints=['=b:NoSchedule']", "taints[0]", "is not a key", "key=value"),
    ("taints=['a=b c:NoSchedule']", "taints[0]", "not a taint value", None),
]


@in_one_test(("assignment", "path", "problem", "fix"), PLACEMENT)
def test_labels_and_taints_that_are_invalid(assignment: str, path: str, problem: str, fix: str | None) -> None:
    expect(faults_of(f"pools.h100gpu.{assignment}"), f"pools.h100gpu.{path}", problem, fix)


@pytest.mark.parametrize("label", ["agentpool", "accelerator", "storageprofile", "storagetier"])
def test_labels_that_aks_sets_itself_are_refused(label: str) -> None:
    path = f"pools.h100gpu.labels.{label}"
    expect(faults_of(f"{path}=x"), path, "AKS sets itself", f"example.com/{label}")
