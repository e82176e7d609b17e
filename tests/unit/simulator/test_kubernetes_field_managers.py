"""Whose fields an update takes over, and whose a preview overrides."""

from __future__ import annotations

from typing import Any, cast

import pytest

from simulator.kubernetes.applying import Applier
from simulator.kubernetes.awaiting import Awaiter
from simulator.kubernetes.client import APPLY_PATCH, MERGE_PATCH, Client
from simulator.kubernetes.field_managers import is_as_created, moved

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


@pytest.mark.parametrize("patch", [True, False])
def test_a_patch_takes_over_nothing(patch: bool) -> None:
    """Else an update of a NodePatch would undo what kubectl cordon has set."""
    sent: list[tuple[str, Any]] = []

    class Cluster:
        def path(self, *_: str) -> str:
            return "/api/v1/nodes/a"

        def get(self, _: str) -> Any:
            return live((OWN, "Apply", ""), ("kubectl-cordon", "Update", ""))

        def resource(self, *_: str) -> None:
            return None

        def patch(self, _: str, body: Any, kind: str, *_options: Any) -> Any:
            sent.append((kind, body))
            return body

    applier = Applier(cast("Client", Cluster()), cast("Awaiter", None))
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}}
    applier.update(node, node, OWN, force=False, patch=patch)
    assert [kind for kind, _ in sent] == ([] if patch else [MERGE_PATCH]) + [APPLY_PATCH]
