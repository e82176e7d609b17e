"""NVSentinel in a stack: after the policies that limit it, and never without them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.recording import Recording
from tests.unit.conftest import Simulate

SECRETS = {"store": "mongodb+srv://user:word@store.contoso.com"}


def stack(simulate: Simulate, mode: str) -> Recording:
    health: dict[str, Any] = {"mode": mode}
    if mode in ("taint", "drain"):
        health["datastoreSecret"] = "store"
    return simulate("dev-westus2", {"monitoring": {"metrics": "kube-prometheus"}, "health": health, "secrets": SECRETS})


def names(found: Recording, kind: str) -> set[str]:
    return {each.inputs["metadata"]["name"] for each in found.of_type(kind)}


def test_nothing_of_it_in_mode_alert(simulate: Simulate) -> None:
    found = stack(simulate, "alert")
    assert "nvsentinel" not in names(found, "Namespace")
    assert not any(name.startswith("nvsentinel") for name in names(found, "ValidatingAdmissionPolicy"))


@pytest.mark.parametrize(("mode", "count"), [("detect", 2), ("taint", 4), ("drain", 4)])
def test_its_limits_exist_before_it_does(simulate: Simulate, mode: str, count: int) -> None:
    found = stack(simulate, mode)
    release = next(each for each in found.of_type("Release") if each.inputs["name"] == "nvsentinel")
    limits = {
        each.urn
        for each in found.of_type("ValidatingAdmissionPolicyBinding")
        if each.inputs["metadata"]["name"].startswith("nvsentinel")
    }
    assert len(limits) == count
    assert limits <= set(release.options.depends_on)


def test_the_datastore_s_address_is_a_secret(simulate: Simulate) -> None:
    found = stack(simulate, "taint")
    secret = next(each for each in found.of_type("Secret") if each.inputs["metadata"]["name"] == "nvsentinel-datastore")
    assert type(secret.inputs["stringData"]).__name__ == "Secret"
    release = next(each for each in found.of_type("Release") if each.inputs["name"] == "nvsentinel")
    assert "word" not in str(release.inputs["values"])
    assert not [each for each in stack(simulate, "detect").of_type("Secret") if "nvsentinel" in str(each.inputs)]
