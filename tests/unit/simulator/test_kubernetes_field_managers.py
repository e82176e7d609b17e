"""Whose fields an update takes over, and whose a preview overrides."""

from __future__ import annotations

from typing import Any

import pytest

from physical_ai.simulator.kubernetes.field_managers import is_as_created, moved

OWN = "pulumi-kubernetes-4f2a1c7e"


def live(*managers: tuple[str, str, str]) -> dict[str, Any]:
    """An object whose managers, each with an operation and a subresource, own a field of their name each."""
    entries = [
        {"manager": name, "operation": operation, "subresource": part, "fieldsV1": {f"f:{name}": {}}}
        for name, operation, part in managers
    ]
    return {"metadata": {"managedFields": entries}}


@pytest.mark.parametrize(
    ("manager", "operation", "part", "taken"),
    [
        ("pulumi-kubernetes", "Update", "", True),
        ("kubectl-edit", "Update", "", True),
        ("kubectl", "Apply", "", True),
        ("before-first-apply", "Update", "", True),
        ("kubectl", "Update", "scale", False),
        ("helm", "Update", "", False),
        ("argocd", "Apply", "", False),
    ],
)
def test_an_update_takes_over_what_creates_and_kubectl_have_set(
    manager: str, operation: str, part: str, taken: bool
) -> None:
    fields = moved(live((OWN, "Apply", ""), (manager, operation, part)), OWN)
    if not taken:
        assert fields is None
        return
    assert fields == [
        {
            "manager": OWN,
            "operation": "Apply",
            "subresource": "",
            "fieldsV1": {f"f:{OWN}": {}, f"f:{manager}": {}},
        }
    ]


def test_a_preview_overrides_everybody_as_long_as_the_create_owns_fields() -> None:
    assert is_as_created(live(("pulumi-kubernetes", "Update", ""), ("kubectl-patch", "Update", "")))
    assert not is_as_created(live((OWN, "Apply", ""), ("kubectl-patch", "Update", "")))
    assert is_as_created(live())
