"""Writes of Kubernetes objects: server-side apply, dry run, create, replace and relinquish, and the messages for
refused writes.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, cast

from simulator.kubernetes.awaiting import Awaiter
from simulator.kubernetes.client import APPLY_PATCH, MERGE_PATCH, ApiError, Client, UnknownKind
from simulator.kubernetes.field_managers import is_as_created, moved
from simulator.kubernetes.objects import Object, is_crd, metadata, name_of, namespace_of

LATE_SECONDS = 63
"""Seconds that a create waits until the CRD or namespace of its object exists. The retries of Pulumi's official
Kubernetes provider last equally long.
"""

CREATOR = "pulumi-kubernetes"
"""Field manager of every create. At the first update of a resource, the resource's own field manager takes over the
fields.
"""

_CONFLICT_HELP = (
    "https://www.pulumi.com/registry/packages/kubernetes/how-to-guides/managing-resources-with-server-side-apply/"
    "#handle-field-conflicts-on-existing-resources"
)


@dataclass(frozen=True)
class Applier:
    """Writes objects with the settings of one provider instance."""

    client: Client
    awaiter: Awaiter
    server_side: bool = True
    upsert: bool = False

    def path(self, obj: Object) -> str:
        """URL path of an object; raises UnknownKind."""
        return self.client.path(str(obj["apiVersion"]), str(obj["kind"]), namespace_of(obj), name_of(obj))

    def create(self, obj: Object, manager: str, force: bool, patch: bool) -> Object:
        """Creates the object, waiting briefly for a missing CRD or namespace; raises ApiError or UnknownKind."""
        end, pause = time.monotonic() + LATE_SECONDS, 0.05
        while True:
            try:
                return self._create(obj, manager, force, patch)
            except (ApiError, UnknownKind) as problem:
                if isinstance(problem, ApiError) and problem.code != 404:
                    raise
                if time.monotonic() > end:
                    raise
            self.awaiter.pause(pause)
            pause = min(pause * 1.6, 1.0)

    def _create(self, obj: Object, manager: str, force: bool, patch: bool) -> Object:
        if self.server_side and (patch or self.upsert):
            return self.apply(obj, manager, force)
        collection = self.path(obj).rsplit("/", 1)[0]
        return self.client.request("POST", collection, self._scoped(obj), _options(CREATOR))

    def apply(self, obj: Object, manager: str, force: bool, dry_run: bool = False) -> Object:
        """Runs a server-side apply, strict about unknown fields, and returns the object; raises ApiError or
        UnknownKind.
        """
        params = {**_options(manager, dry_run), "force": str(force).lower()}
        return self.client.patch(self.path(obj), self._scoped(obj), APPLY_PATCH, params)

    def update(
        self, old: Object, obj: Object, manager: str, force: bool, *, dry_run: bool = False, patch: bool = False
    ) -> Object:
        """Changes an existing object to the inputs and returns it; raises ApiError (404 if it does not exist) or
        UnknownKind.

        A CRD is replaced, because an apply would not remove its old versions and fields. Any other object is applied;
        without server-side apply, it is patched with the differences between the old and the new inputs.

        Args:
            patch: True for a Patch resource, which takes over no fields of other managers, such as a field that
                `kubectl cordon` has set (await.go, fixCSAFieldManagers).
        """
        path = self.path(obj)
        live = self.client.get(path)
        if is_crd(obj):
            body = {**obj, "metadata": {**metadata(obj), "resourceVersion": metadata(live).get("resourceVersion")}}
            return self.client.request("PUT", path, body, _options(manager, dry_run))
        if self.server_side and patch:
            return self.apply(obj, manager, force or not metadata(live).get("managedFields"), dry_run)
        if self.server_side:
            return self._take_over(obj, live, manager, force, dry_run)
        return self.client.patch(path, merge_patch(old, obj), MERGE_PATCH, _options(manager, dry_run))

    def _take_over(self, obj: Object, live: Object, manager: str, force: bool, dry_run: bool) -> Object:
        """Applies an object after `manager` has taken over fields from other managers: the fields that the object was
        created with, and the fields that `kubectl` has set.

        The official plugin takes over these fields without a message (await.go, fixCSAFieldManagers). A dry run takes
        over no fields. Before the first update, the dry run overrides all other managers (patchForce). After the first
        update, it therefore reports conflicts with `kubectl` that the update itself does not have.
        """
        if dry_run:
            return self.apply(obj, manager, force or is_as_created(live), dry_run)
        fields = moved(live, manager)
        if fields is not None:
            seen = {"managedFields": fields, "resourceVersion": metadata(live).get("resourceVersion")}
            self.client.patch(self.path(obj), {"metadata": seen}, MERGE_PATCH)
        return self.apply(obj, manager, force or not metadata(live).get("managedFields"))

    def relinquish(self, obj: Object, manager: str) -> None:
        """Gives up every field of a manager: fields that only this manager had set are removed, the object remains."""
        held = {key: value for key, value in metadata(obj).items() if key in ("name", "namespace")}
        empty = {"apiVersion": obj["apiVersion"], "kind": obj["kind"], "metadata": held}
        self.apply(empty, manager, force=True)

    def _scoped(self, obj: Object) -> Object:
        """The object, without its namespace if its kind is cluster-scoped. The provider's Check has kept the namespace
        if the CRD of the kind did not exist yet.
        """
        resource = self.client.resource(str(obj["apiVersion"]), str(obj["kind"]))
        if resource is None or resource.namespaced or "namespace" not in metadata(obj):
            return obj
        return {**obj, "metadata": {key: value for key, value in metadata(obj).items() if key != "namespace"}}


def merge_patch(old: Object, new: Object) -> Object:
    """The JSON merge patch (RFC 7386) that turns the old inputs into the new; lists are replaced completely."""
    patch: Object = {key: None for key in old if key not in new}
    for key, value in new.items():
        before = old.get(key)
        if isinstance(value, dict) and isinstance(before, dict):
            inner = merge_patch(cast("Object", before), cast("Object", value))
            if inner:
                patch[key] = inner
        elif value != before:
            patch[key] = value
    return patch


def explained(problem: ApiError | UnknownKind, manager: str) -> str:
    """The API server's message; for a field conflict, with the official plugin's advice."""
    if isinstance(problem, ApiError) and problem.code == 409 and _is_field_conflict(problem):
        return (
            f"server-side apply field conflict detected, see {_CONFLICT_HELP} for troubleshooting help\n"
            f'The resource managed by field manager "{manager}" had an apply conflict: {problem}'
        )
    return str(problem)


def _is_field_conflict(problem: ApiError) -> bool:
    causes = cast("list[dict[str, Any]]", problem.details.get("causes") or [])
    return any(cause.get("reason") == "FieldManagerConflict" for cause in causes)


def _options(manager: str, dry_run: bool = False) -> dict[str, str]:
    options = {"fieldManager": manager, "fieldValidation": "Strict"}
    return options | ({"dryRun": "All"} if dry_run else {})
