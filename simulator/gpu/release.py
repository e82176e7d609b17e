"""Data about one GPU Operator release: how it differs from other releases."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field

from physical_ai import safe_yaml
from physical_ai.catalog import operator_releases
from simulator.errors import SimulationError

Json = dict[str, Any]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Labelling(_Strict):
    """Rules of a release for deploy labels: when a labelling pass sets and removes them."""

    every_workload: tuple[str, ...] = Field(description="Deploy labels that container and VM workloads both get.")
    own_controller: bool = Field(description="Passes have their own triggers; False: every ClusterPolicy reconcile.")
    strips_unlabelled: bool = Field(description="Deploy labels of nodes NFD has not labelled yet are removed.")
    restores_empty: bool = Field(description="An empty deploy label becomes true again, as a missing one does.")


class Cdi(_Strict):
    """Changes of the toolkit's and the device plugin's settings when CDI is enabled."""

    drop_in: bool = Field(description="containerd is configured through a drop-in file.")
    annotation_prefix: str
    list_strategy: str
    toolkit_env: Mapping[str, str]
    default_env: Mapping[str, str] = Field(
        description="Variables that `cdi.default`, where it exists, adds to the toolkit."
    )
    nri_alone: bool = Field(description="The toolkit leaves containerd's configuration alone with the NRI plugin.")


class Release(_Strict):
    """One release of the GPU Operator."""

    version: str
    images: Mapping[str, str] = Field(description="Default image by component of the ClusterPolicy.")
    labelling: Labelling
    driver_owners: bool = Field(description="Nodes are labelled with the NVIDIADriver that owns them.")
    policy_required: bool = Field(description="NVIDIADrivers are not reconciled without a ClusterPolicy.")
    keeps_first_policy: bool = Field(description="The first reconciled ClusterPolicy counts for good, of several.")
    upgrades_on_labels: tuple[str, ...] | None = Field(
        description="Labels of a node whose change starts an upgrade pass; None for any label."
    )
    upgrades_on_drivers: bool = Field(description="A changed NVIDIADriver starts an upgrade pass.")
    upgrade_annotation: Literal["owned", "all", "always"] = Field(
        description="GPU nodes marked for the upgrade controller: owned ones, all, all even without a driver."
    )
    counts_claims: bool = Field(description="A Pod with a claim of a GPU is cleared as one that requests a GPU.")
    follows_policy: bool = Field(description="NVIDIADrivers are reconciled when the ClusterPolicy changes.")
    notices_deleted_nodes: bool = Field(description="Deleting a GPU node starts a reconcile of the ClusterPolicy.")
    nodes_required: bool = Field(description="An NVIDIADriver that selects no GPU node is an error.")
    removes_idle_drivers: bool = Field(
        description="An NVIDIADriver's DaemonSet is deleted once no node has its operating system."
    )
    digest: bool = Field(description="Driver pods carry a digest of their configuration.")
    restarts_in_place: bool = Field(
        description="A driver pod whose digest is that of the new template is restarted without clearing its node."
    )
    waits_for_generation: bool = Field(description="A DaemonSet its controller has not looked at yet is not ready.")
    service_monitor_required: bool = Field(description="A ServiceMonitor without its CRD makes the exporter not ready.")
    not_ready: str = Field(description="Text of the condition; `{states}` are the states that are not ready.")
    host_check: tuple[str, ...] = Field(description="Directories of the host where the validator finds nvidia-smi.")
    validates_peermem: bool = Field(description="The validator waits for nvidia-peermem where the driver has it.")
    toolkit_sources: tuple[str, ...] = Field(description="Default of RUNTIME_CONFIG_SOURCE in the toolkit it ships.")
    cdi: Cdi
    operands: Mapping[str, Any] = Field(description="Merge patches over data/operands; null removes.")


def _text(*path: str) -> str:
    return resources.files("simulator.gpu.data").joinpath(*path).read_text()


@cache
def names() -> tuple[str, ...]:
    """Releases that the simulator has data about: `v25.3.4`, `v26.3.3`, `v26.7.0`."""
    folder = resources.files("simulator.gpu.data").joinpath("releases")
    return tuple(sorted(entry.name.removesuffix(".yaml") for entry in folder.iterdir() if entry.name.endswith(".yaml")))


@cache
def release(version: str) -> Release:
    """The data of a release, by version with or without the leading `v`.

    The catalogue can list a release without details. Such a release gets the data of the other release that the
    catalogue names for it.

    Raises:
        SimulationError: The simulator does not know the release.
    """
    name = f"v{version.removeprefix('v')}"
    known = operator_releases().get(name)
    read = known.values_of if known is not None and known.is_unread else name
    if read not in names():
        raise SimulationError(f"The GPU stack model does not know GPU Operator {name}; it knows {', '.join(names())}.")
    data: Json = safe_yaml.load(_text("releases", f"{read}.yaml"))
    images = {part: image.replace("{release}", name) for part, image in data.pop("images").items()}
    return Release.model_validate({"version": name, "images": images, **data})


def merge(base: Any, patch: Any) -> Any:
    """Result of a JSON merge patch (RFC 7396)."""
    if not isinstance(patch, Mapping):
        return patch
    result: Json = dict(cast("Mapping[str, Any]", base)) if isinstance(base, Mapping) else {}
    for key, value in cast("Mapping[str, Any]", patch).items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge(result.get(key), value)
    return result


@cache
def operand(version: str, name: str) -> Mapping[str, Any]:
    """The operand's description in a release; the caller must not change it."""
    found = release(version)
    return merge(safe_yaml.load(_text("operands", f"{name}.yaml")), found.operands.get(name, {}))
