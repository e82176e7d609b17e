"""Check of an NVIDIADriver's spec against the fields that a GPU Operator release knows.

The API server drops an unknown field or rejects the resource, depending on the client's field validation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from physical_ai.catalog.compat.chart import kinds_of
from physical_ai.catalog.compat.chart_rules import CHOICES
from physical_ai.catalog.compat.keys import Kind
from physical_ai.catalog.gpu_load import driver_field_groups, operator_releases
from physical_ai.catalog.lookup import nearest
from physical_ai.findings import Finding, Severity
from physical_ai.nested import is_mapping

SOURCE = "NVIDIA/gpu-operator NVIDIADriver CRD"


@lru_cache(maxsize=16)
def driver_fields(release: str) -> Mapping[str, Kind]:
    """Fields of an NVIDIADriver's spec in a release, by dotted path. Raises `UnknownName` for an unknown release."""
    return kinds_of(driver_field_groups(), release)


def check_driver(release: str, spec: Mapping[str, Any]) -> list[Finding]:
    """Findings about fields of `spec` that the release's NVIDIADriver does not have, in the order of `spec`, followed
    by a finding if the kernel module type is invalid.

    Raises `UnknownName` for a release that is not in the catalogue.
    """
    kind = spec.get("kernelModuleType")
    choices = CHOICES["driver.kernelModuleType"]
    found = list(_walk(release, spec, ""))
    if isinstance(kind, str) and kind not in choices:
        fix = f"One of: {', '.join(choices)}."
        found.append(
            Finding(Severity.ERROR, _rule("value"), "kernelModuleType", f"'{kind}' is not possible here.", fix, SOURCE)
        )
    return found


def _walk(release: str, spec: Mapping[str, Any], prefix: str) -> Iterator[Finding]:
    known = driver_fields(release)
    for key, value in spec.items():
        path = f"{prefix}{key}"
        if path in known:
            if known[path] == "value" and isinstance(value, (Mapping, list)):
                yield Finding(Severity.ERROR, _rule("shape"), path, f"{path} takes one value.", f"{path}: …", SOURCE)
        elif any(name.startswith(f"{path}.") for name in known):
            if is_mapping(value):
                yield from _walk(release, value, f"{path}.")
            else:
                problem = f"{path} is a section, not a value."
                fields = ", ".join(
                    sorted({name[len(path) + 1 :].partition(".")[0] for name in known if name.startswith(f"{path}.")})
                )
                yield Finding(Severity.ERROR, _rule("shape"), path, problem, f"Fields it has: {fields}.", SOURCE)
        else:
            yield _unknown(release, path)


def _unknown(release: str, path: str) -> Finding:
    problem = f"An NVIDIADriver of {release} has no field {path}."
    for other in operator_releases():
        if any(name == path or name.startswith(f"{path}.") for name in driver_fields(other)):
            fix = f"It has one from {other} on; leave it out, or upgrade."
            return Finding(Severity.ERROR, _rule("other-release"), path, problem, fix, SOURCE)
    near = nearest(path, driver_fields(release))
    fix = f"Did you mean {near}?" if near else "Leave it out."
    return Finding(Severity.ERROR, _rule("unknown"), path, problem, fix, SOURCE)


def _rule(what: str) -> str:
    return f"driver-field-{what}"
