"""Fields that the GPU exporters of DCGM and AMD report, and Xids: rows, reading, and lookups."""

from __future__ import annotations

import datetime
from functools import lru_cache
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from physical_ai.catalog.gpu_load import GPU, operator_releases
from physical_ai.catalog.load import CatalogError, read_rows, row
from physical_ai.catalog.lookup import UnknownName, nearest
from physical_ai.catalog.rows import Row, Text

XidClass = Literal["job", "node", "information", "unclear"]


class DcgmField(Row):
    """A field that the DCGM exporter reports."""

    name: Annotated[str, StringConstraints(pattern=r"^DCGM_(FI|EXP)_[A-Z0-9_]+$")]
    type: Literal["gauge", "counter", "label"]
    unit: Text
    help: Annotated[str, StringConstraints(pattern=r"^[^,\n]+$")]
    """Help text without a comma, because the exporter's CSV file has exactly three columns."""
    vgpu: Literal["yes", "no", "unknown"]
    """`yes` if the exporter has values for the field in a VM with a MIG-backed vGPU."""
    mig: Literal["instance", "gpu", "none"] = "instance"
    """Unit that has a series of the field on a GPU with MIG instances: each instance, the GPU as a whole, or none."""
    default: bool = True
    exporter: bool = False
    """True for a value that the exporter computes itself; it is not a field of DCGM."""
    missing: tuple[Text, ...] = ()
    """Exporter versions that exit when this field is configured."""
    source: Text
    date: datetime.date


class AmdField(Row):
    """A field that AMD's device metrics exporter reports."""

    name: Annotated[str, StringConstraints(pattern=r"^(GPU|PCIE)_[A-Z0-9_]+$")]
    unit: Text
    help: Text
    guest: Literal["yes", "no", "unknown"]
    """`yes` if the exporter has values for the field in a VM whose GPU is a virtual function."""
    counter: bool = False
    source: Text
    date: datetime.date


class DcgmExporter(Row):
    """A release of the DCGM exporter."""

    version: Text
    host_label: Literal["Hostname", "hostname"]
    watches: tuple[Text, ...]
    """Names of DCGM's health watches. The exporter has one series for each watch and GPU."""
    unheld: Literal["silent", "hidden", "reported"]
    """Series that the exporter has for idle GPUs (GPUs that no Pod uses), on nodes where Pods share GPUs and each of
    these Pods has its own series.
    `silent`: no series of idle GPUs. `hidden`: no series of idle GPUs while a Pod uses another GPU of the node.
    `reported`: series of all idle GPUs.
    """
    source: Text
    date: datetime.date


class Xid(Row):
    """An Xid: an error code that the NVIDIA driver writes to the kernel log."""

    code: Annotated[int, Field(ge=1, le=200)]
    xid_class: Annotated[XidClass, Field(alias="class")]
    action: Text
    """NVIDIA's immediate action for the Xid."""
    repair: Literal["reboot", "replace", "none"] | None = None
    """Repair of the machine; None for the repair that the Xid's class implies."""
    companion: bool = False
    """True for an Xid that only accompanies another Xid of the same GPU."""
    meaning: Text
    advice: Text
    source: Text
    date: datetime.date

    @property
    def remedy(self) -> Literal["reboot", "replace", "none"]:
        """Repair of the machine: the repair that the row names; for a row without one, a reboot if the class is `node`,
        and no repair for any other class.
        """
        return self.repair or ("reboot" if self.xid_class == "node" else "none")


@lru_cache(maxsize=1)
def dcgm_fields() -> dict[str, DcgmField]:
    """Fields of the DCGM exporter by name, in the order of the CSV file."""
    found: dict[str, DcgmField] = {}
    exporters = {release.dcgm_exporter for release in operator_releases().values()}
    for group in read_rows(GPU / "dcgm_fields.yaml"):
        shared = {"source": group["source"], "date": group["date"]}
        for own in group["fields"]:
            field = row(DcgmField, {**shared, **own}, f"dcgm_fields.yaml: {own.get('name')}")
            if field.name in found:
                raise CatalogError(f"dcgm_fields.yaml: {field.name} is a duplicate")
            if strange := set(field.missing) - exporters:
                raise CatalogError(f"dcgm_fields.yaml: {field.name} names unknown exporters: {', '.join(strange)}")
            found[field.name] = field
    return found


@lru_cache(maxsize=1)
def amd_fields() -> dict[str, AmdField]:
    """Fields that AMD's exporter is configured to report, by name."""
    found: dict[str, AmdField] = {}
    for group in read_rows(GPU / "amd_fields.yaml"):
        shared = {"source": group["source"], "date": group["date"]}
        for own in group["fields"]:
            field = row(AmdField, {**shared, **own}, f"amd_fields.yaml: {own.get('name')}")
            if field.name in found:
                raise CatalogError(f"amd_fields.yaml: {field.name} is a duplicate")
            found[field.name] = field
    return found


@lru_cache(maxsize=1)
def dcgm_exporters() -> dict[str, DcgmExporter]:
    """DCGM exporters in all GPU Operator releases, by version."""
    found: dict[str, DcgmExporter] = {}
    for group in read_rows(GPU / "dcgm_exporters.yaml"):
        shared = {"source": group["source"], "date": group["date"]}
        for own in group["exporters"]:
            exporter = row(DcgmExporter, {**shared, **own}, f"dcgm_exporters.yaml: {own.get('version')}")
            found[exporter.version] = exporter
    if found.keys() != {release.dcgm_exporter for release in operator_releases().values()}:
        raise CatalogError("dcgm_exporters.yaml: not the exporters of operator_releases.yaml")
    return found


@lru_cache(maxsize=1)
def xids() -> dict[int, Xid]:
    """All classified Xids by code."""
    found: dict[int, Xid] = {}
    for group in read_rows(GPU / "xids.yaml"):
        shared = {"source": group["source"], "date": group["date"]}
        for own in group["xids"]:
            one = {key: value for key, value in own.items() if key != "codes"}
            for code in own.get("codes") or [own.get("code")]:
                xid = row(Xid, {**shared, **one, "code": code}, f"xids.yaml: {code}")
                if xid.code in found:
                    raise CatalogError(f"xids.yaml: {xid.code} is a duplicate")
                found[xid.code] = xid
    return dict(sorted(found.items()))


def xids_of(xid_class: XidClass) -> tuple[int, ...]:
    """Codes of the Xids of one class, in ascending order."""
    return tuple(sorted(code for code, xid in xids().items() if xid.xid_class == xid_class))


def dcgm_field(name: str) -> DcgmField:
    """The DCGM field of this name. Raises `UnknownName`."""
    field = dcgm_fields().get(name)
    if field is None:
        raise UnknownName("DCGM field", name, nearest(name, dcgm_fields()))
    return field
