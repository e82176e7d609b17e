"""Rules about values of the GPU Operator chart: values that the chart's templates reject, and values with which GPUs
are silently not detected.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from physical_ai.catalog.gpu_lookup import operator_release, version
from physical_ai.catalog.lookup import nearest
from physical_ai.findings import Finding, Severity
from physical_ai.nested import at

CHOICES: dict[str, tuple[str, ...]] = {
    "mig.strategy": ("", "none", "single", "mixed"),
    "driver.kernelModuleType": ("auto", "open", "proprietary"),
    "daemonsets.updateStrategy": ("RollingUpdate", "OnDelete"),
    "sandboxWorkloads.defaultWorkload": ("container", "vm-passthrough", "vm-vgpu"),
    "sandboxWorkloads.mode": ("kubevirt", "kata"),
}
"""Allowed values by key, from the ClusterPolicy schema; the API server rejects any other value."""
SCHEMA = "NVIDIA/gpu-operator ClusterPolicy CRD"
NULL_SECTIONS: dict[str, tuple[str, ...]] = {"mig": ("mig.strategy",)}
"""Sections of the ClusterPolicy that the chart renders as null if the listed keys are all empty."""
VALIDATIONS = "NVIDIA/gpu-operator templates/validations.yaml"


def judge_values(release: str, values: Mapping[str, Any]) -> Iterator[Finding]:
    """Findings about values of the chart's known keys; `chart.check_values` adds findings about unknown keys."""
    for path, choices in CHOICES.items():
        value = at(values, path)
        if isinstance(value, str) and value not in choices:
            near = nearest(value, [choice for choice in choices if choice])
            listed = ", ".join(choice or '""' for choice in choices)
            fix = f"Did you mean {near}?  One of: {listed}." if near else f"One of: {listed}."
            yield Finding(Severity.ERROR, "chart-value", path, f"'{value}' is not possible here.", fix, SCHEMA)
    if at(values, "cdi.enabled") is False and at(values, "cdi.nriPluginEnabled") is True:
        path, fix = "cdi.nriPluginEnabled", "cdi.enabled: true, or cdi.nriPluginEnabled: false"
        yield Finding(Severity.ERROR, "nri-without-cdi", path, "The chart refuses NRI without CDI.", fix, VALIDATIONS)
    yield from _empty_sections(values)
    yield from _default_driver(release, values)
    if version(operator_release(release).version) >= (26, 7):
        yield from _refused_since_26_7(values)
    yield from _detection(values)


def _empty_sections(values: Mapping[str, Any]) -> Iterator[Finding]:
    """Findings about sections that the chart renders as null for an empty value, where the CRD requires an object.

    Helm creates a new object by POST, which drops the null; server-side apply refuses it. Where the values leave the
    key out, the chart's default fills the section.
    """
    for section, keys in NULL_SECTIONS.items():
        given = [at(values, key) for key in keys]
        if any(value is not None for value in given) and not any(given):
            problem = f"The chart renders {section} as null for an empty {keys[0]}."
            fix = (
                "Leave it so with Pulumi or helm. Deployers that use server-side apply, as Flux and Argo CD may, are "
                f"refused: spec.{section} in body must be of type object."
            )
            source = "NVIDIA/gpu-operator v26.7.0 templates/clusterpolicy.yaml; seen on an API server 1.36"
            yield Finding(Severity.INFO, "chart-null", keys[0], problem, fix, source)


def _default_driver(release: str, values: Mapping[str, Any]) -> Iterator[Finding]:
    chosen = "driver.nvidiaDriverCRD"
    if at(values, f"{chosen}.enabled") is not True or at(values, f"{chosen}.deployDefaultCR") is False:
        return
    old = version(operator_release(release).version) < (26, 7)
    problem = (
        "The chart's default NVIDIADriver has no selector: it conflicts with every other one."
        if old
        else "The chart's default NVIDIADriver takes every GPU node that no other one selects, vGPU nodes included."
    )
    yield Finding(
        Severity.ERROR if old else Severity.WARNING,
        "chart-default-driver",
        f"{chosen}.deployDefaultCR",
        problem,
        f"{chosen}.deployDefaultCR: false",
        "NVIDIA/gpu-operator templates/nvidiadriver.yaml",
    )


def _refused_since_26_7(values: Mapping[str, Any]) -> Iterator[Finding]:
    if at(values, "gpuCluster.deployCR") is True and at(values, "clusterPolicy.deployCR") is not False:
        path, problem = "gpuCluster.deployCR", "The chart refuses a GPUCluster beside the ClusterPolicy."
        yield Finding(Severity.ERROR, "chart-two-owners", path, problem, "clusterPolicy.deployCR: false", VALIDATIONS)
    config = "devicePlugin.config"
    if at(values, f"{config}.create") is True:
        for key in ("name", "data"):
            if not at(values, f"{config}.{key}"):
                problem = f"The chart refuses {config}.create without {config}.{key}."
                fix = f"Set {config}.{key}, or {config}.create: false."
                yield Finding(Severity.ERROR, "chart-empty-config", f"{config}.{key}", problem, fix, VALIDATIONS)


def _detection(values: Mapping[str, Any]) -> Iterator[Finding]:
    pci = "node-feature-discovery.worker.config.sources.pci"
    classes = at(values, f"{pci}.deviceClassWhitelist")
    if classes is not None and not _has_gpus(classes):
        path, problem = f"{pci}.deviceClassWhitelist", "Without the classes of GPUs, no node gets the label of its GPU."
        fix = "Leave it out, or add '0300' and '0302', display and 3D controllers."
        source = (
            "NVIDIA/gpu-operator values.yaml; kubernetes-sigs/node-feature-discovery worker configuration reference"
        )
        yield Finding(Severity.ERROR, "nfd-classes", path, problem, fix, source)
    path = f"{pci}.deviceLabelFields"
    fields = at(values, path)
    if isinstance(fields, Sequence) and list(cast("Sequence[Any]", fields)) != ["vendor"]:
        problem = "The operator finds GPUs by labels that name the vendor alone; with other fields it finds none."
        source = "NVIDIA/gpu-operator#1469"
        yield Finding(Severity.ERROR, "nfd-label-fields", path, problem, "deviceLabelFields: [vendor]", source)


def _has_gpus(classes: Any) -> bool:
    """True if the list `classes` covers GPUs: it has the PCI main class 03, or both of its subclasses 0300 and 0302."""
    given = {str(each) for each in cast("Sequence[Any]", classes)} if isinstance(classes, Sequence) else set[str]()
    return "03" in given or {"0300", "0302"} <= given
