"""Rules about containerd, the NVIDIA container toolkit, CDI and NRI."""

from __future__ import annotations

from collections.abc import Iterator

from physical_ai.catalog.gpu_lookup import containerd_trait, toolkit_trait, version, within
from physical_ai.catalog.gpu_rows import NodeImage, OperatorRelease
from physical_ai.findings import Finding, Severity

DEFAULT_SOURCES = "command,file"
"""Default of the toolkit's RUNTIME_CONFIG_SOURCE: first the running daemon's configuration, then its file."""
NRI_SINCE = ((1, 7, 30), (2, 1, 0))
"""First versions of containerd with which NRI works with the operator's plugin: the first patch of the 1.7 line, and
the first version of all later lines (NVIDIA GPU Operator docs, cdi).
"""
NRI_DOCS = "NVIDIA GPU Operator docs, cdi"


def judge_runtime(
    release: OperatorRelease,
    image: NodeImage,
    containerd: str | None,
    toolkit: str | None,
    sources: str | None,
    *,
    cdi: bool,
    nri: bool,
) -> Iterator[Finding]:
    """Findings of all rules about a node's container runtime.

    `containerd`: None where it is not known. `toolkit`: None for the version that the GPU Operator release contains.
    """
    yield from _nri(release, containerd, cdi=cdi, nri=nri)
    yield from _toolkit(release, image, toolkit)
    if containerd is None:
        return
    if release.containerd is not None and within(containerd, release.containerd):
        low, high = release.containerd
        message = f"{release.version} is tested with containerd {low} to {high}; {image.name} has {containerd}."
        fix = "Pools with osSku Ubuntu on Kubernetes 1.35 or newer have 2.3."
        if image.release == "24.04":
            fix = "Use a newer release of the GPU Operator, or pin the node image; try it on one node first."
        yield Finding(Severity.WARNING, "containerd-untested", "containerd", message, fix, release.source)
    if not nri:
        yield from _drop_in(image, containerd, toolkit or release.toolkit, sources or DEFAULT_SOURCES)


def _nri(release: OperatorRelease, containerd: str | None, *, cdi: bool, nri: bool) -> Iterator[Finding]:
    if not nri:
        return
    if not release.nri:
        message = f"{release.version} has no NRI plugin; 26.3 introduced it."
        yield Finding(Severity.ERROR, "nri-unknown", "nri", message, "nri: false", release.source)
        return
    if not cdi:
        message = "The NRI plugin needs CDI; the chart refuses one without the other."
        yield Finding(
            Severity.ERROR,
            "nri-without-cdi",
            "nri",
            message,
            "cdi: true, or nri: false",
            "gpu-operator validations.yaml",
        )
    if containerd is not None:
        number = version(containerd)
        if number < NRI_SINCE[0] or (2,) <= number < NRI_SINCE[1]:
            message = f"The NRI plugin needs containerd 1.7.30, 2.1 or newer, not {containerd}."
            yield Finding(Severity.ERROR, "nri-containerd", "nri", message, "nri: false", NRI_DOCS)
    message = "NVIDIA does not yet recommend the NRI plugin for production."
    yield Finding(Severity.WARNING, "nri-not-production", "nri", message, "nri: false", NRI_DOCS)


def _toolkit(release: OperatorRelease, image: NodeImage, toolkit: str | None) -> Iterator[Finding]:
    chosen = toolkit or release.toolkit
    trait = toolkit_trait(chosen)
    if trait.loses_imports:
        message = f"Toolkit {chosen} overwrites the imports of containerd's configuration."
        yield Finding(Severity.ERROR, "toolkit-loses-imports", "toolkit", message, "Use 1.18.1 or newer.", trait.source)
    if not trait.drop_in and image.config_version > 2:
        message = f"Toolkit {chosen} can't edit the version {image.config_version} configuration of {image.name}."
        fix = f"Use the release's own {release.toolkit}."
        yield Finding(Severity.ERROR, "toolkit-schema", "toolkit", message, fix, "NVIDIA/gpu-operator#2060")
    if toolkit and version(toolkit)[:2] < version(release.toolkit)[:2]:
        message = f"Toolkit {toolkit} is older than {release.toolkit}, which {release.version} was tested with."
        fix = "Leave toolkit.version out; runtimeConfigSource: file is the remedy for containerd's drop-ins."
        yield Finding(Severity.WARNING, "toolkit-old", "toolkit", message, fix, release.source)


def _drop_in(image: NodeImage, containerd: str, toolkit: str, sources: str) -> Iterator[Finding]:
    """Finding if the toolkit writes a drop-in file with a newer schema than containerd's main configuration file has.

    The toolkit copies the schema from its first source. The running daemon (`command`) reports its newest schema, which
    may be newer than the file's.
    """
    trait = toolkit_trait(toolkit)
    dumped = containerd_trait(containerd).dumps or image.config_version
    if trait.drop_in and sources.split(",", maxsplit=1)[0].strip() == "command" and dumped > image.config_version:
        message = (
            f"Toolkit {toolkit} would write a version {dumped} drop-in beside the version {image.config_version} "
            f"configuration of {image.name}; containerd {containerd} exits on that, and the node is lost."
        )
        fix = "runtimeConfigSource: file (RUNTIME_CONFIG_SOURCE in toolkit.env)."
        yield Finding(Severity.ERROR, "containerd-drop-in", "toolkit", message, fix, trait.source)
