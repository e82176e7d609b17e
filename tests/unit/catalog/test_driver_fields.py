"""The spec of an NVIDIADriver against the fields of a release."""

from __future__ import annotations

from typing import Any

import pytest

from physical_ai.catalog import UnknownName
from physical_ai.catalog.compat import check_driver, driver_fields

GOOD: dict[str, Any] = {
    "driverType": "gpu",
    "repository": "nvcr.io/nvidia",
    "version": "580.173.02",
    "kernelModuleType": "open",
    "nodeSelector": {"any": "label"},
    "tolerations": [{"key": "any"}],
    "env": [{"name": "A", "value": "b"}],
    "kernelModuleConfig": {"name": "modules"},
    "resources": {"limits": {"memory": "1Gi"}},
}


@pytest.mark.parametrize("release", ["v25.3.4", "v25.10.1", "v26.3.3", "v26.7.0"])
def test_what_every_release_knows_passes_and_free_maps_are_free(release: str) -> None:
    assert check_driver(release, GOOD) == []


CASES = [
    ("v26.7.0", {"imag": "x"}, "imag", "unknown", "Did you mean image?"),
    ("v26.7.0", {"upgradePolicy": {"gpuPodDeletion": {}}}, "upgradePolicy.gpuPodDeletion", "unknown", "podDeletion"),
    ("v26.3.3", {"upgradePolicy": {"autoUpgrade": True}}, "upgradePolicy", "other-release", "from v26.7.0 on"),
    ("v25.3.4", {"hostNetwork": True}, "hostNetwork", "other-release", "from v26.3.0 on"),
    ("v26.7.0", {"version": {"major": 580}}, "version", "shape", "version: …"),
    ("v26.7.0", {"kernelModuleConfig": "modules"}, "kernelModuleConfig", "shape", "Fields it has: name."),
    ("v26.7.0", {"kernelModuleType": "closed"}, "kernelModuleType", "value", "auto, open, proprietary"),
]


@pytest.mark.parametrize(("release", "spec", "path", "rule", "fix"), CASES)
def test_a_wrong_field_is_reported_with_its_path_and_fix(
    release: str, spec: dict[str, Any], path: str, rule: str, fix: str
) -> None:
    (found,) = check_driver(release, spec)
    assert (found.where, found.rule, found.severity) == (path, f"driver-field-{rule}", "error")
    assert fix in str(found.fix)


def test_newer_releases_have_the_fields_of_older_ones() -> None:
    assert driver_fields("v25.3.4").keys() < driver_fields("v26.3.3").keys() < driver_fields("v26.7.0").keys()


def test_an_unknown_release_is_reported() -> None:
    with pytest.raises(UnknownName):
        check_driver("v1.0.0", {})
