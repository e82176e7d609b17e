"""Operations on the objects of a cluster. They give the same error messages as the official plugin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, cast

from simulator.kubernetes.applying import Applier, explained
from simulator.kubernetes.awaiting import Awaiter, NotInTime
from simulator.kubernetes.client import ApiError, Client, UnknownKind, Unreachable
from simulator.kubernetes.diffing import as_inputs
from simulator.kubernetes.objects import (
    DELETION_POLICY,
    FIELD_MANAGER,
    INPUTS,
    PATCH_FORCE,
    Object,
    annotated,
    annotation,
    field_manager,
    from_api,
    gvk_of,
    gvk_of_type,
    imported_inputs,
    is_crd,
    is_patch,
    is_secret,
    metadata,
    name_of,
    namespace_of,
    object_id,
    parse_id,
    to_api,
    with_unknowns,
    without_read_only,
)
from simulator.kubernetes.options import Settings
from simulator.kubernetes.scopes import Scopes
from simulator.wire import NotReady, Refused, Request, Secret, has_unknown

_MANAGER = "__fieldManager"
_INITIAL_VERSION = "__initialApiVersion"


@dataclass(frozen=True)
class ObjectManager:
    """Operations of one connected provider on everything but Helm releases."""

    client: Client
    settings: Settings
    scopes: Scopes
    awaiter: Awaiter

    @property
    def _applier(self) -> Applier:
        return Applier(self.client, self.awaiter, self.settings.server_side_apply, self.settings.upsert)

    def create(self, request: Request, inputs: Object) -> tuple[str, Object]:
        """Creates an object; returns its id and state.

        Raises Refused if no object was created, NotReady if it was created but is not ready.
        """
        obj, manager = to_api(inputs), self._manager(request, inputs, {})
        try:
            live = self._applier.create(obj, manager, self._forced(inputs), is_patch(request.type, inputs))
        except UnknownKind as problem:
            gvk = gvk_of(inputs)
            raise Refused(
                f'creation of resource "{request.urn}" with kind {gvk.api_version}/{gvk.kind} failed because the '
                "Kubernetes API server reported that the apiVersion for this resource does not exist. "
                f"Verify that any required CRDs have been created: {problem}"
            ) from None
        except (ApiError, Unreachable) as problem:
            raise Refused(_not_created(request, _error_text(problem, manager))) from None
        if is_crd(inputs):
            self.scopes.forget(obj)
        headline = (
            f'resource "{request.urn}" was successfully created, but the Kubernetes API server reported that it '
            "failed to fully initialize or become live"
        )
        live = self._awaited(request, live, inputs, manager, headline)
        return object_id(live), _state(live, inputs, manager)

    def preview_create(self, request: Request, inputs: Object) -> Object:
        """The object that a dry run of the creation returns; `inputs` if a dry run is not possible."""
        if not self._dry_runnable(inputs) or is_patch(request.type, inputs):
            return inputs
        obj, manager = to_api(inputs), self._manager(request, inputs, {})
        try:
            live = self._applier.apply(obj, manager, force=True, dry_run=True)
        except UnknownKind:
            return inputs
        except ApiError as problem:
            # 403: this run may grant the right. 404: it may create the namespace. 409 and immutable fields, for which
            # CRDs have their own messages: the object may be about to be replaced.
            if problem.code in (403, 404, 409) or "immutable" in str(problem):
                return inputs
            raise Refused(_not_created(request, str(problem))) from None
        except Unreachable as problem:
            raise Refused(_not_created(request, str(problem))) from None
        return _state(with_unknowns(live, obj), inputs, manager)

    def update(self, request: Request, old_inputs: Object, old_outputs: Object, inputs: Object) -> Object:
        """Updates an object; returns its new state.

        Raises Refused if the object does not exist, NotReady if the update was refused or the object is not ready.
        """
        manager, held = self._manager(request, inputs, old_outputs), self._manager(request, {}, old_outputs)
        obj = to_api(inputs)
        try:
            patch = is_patch(request.type, inputs)
            live = self._applier.update(to_api(old_inputs), obj, manager, self._forced(inputs), patch=patch)
            if manager != held:
                self._applier.relinquish(obj, held)
        except UnknownKind as problem:
            raise Refused(
                f'update of resource "{request.urn}" failed because the Kubernetes API server reported that the '
                "apiVersion for this resource does not exist. "
                f"Verify that any required CRDs have been created: {problem}"
            ) from None
        except (ApiError, Unreachable) as problem:
            self._update_refused(request, inputs, manager, problem)
        if is_crd(inputs):
            self.scopes.forget(obj)
        return _state(self._awaited(request, live, inputs, manager, _not_live(object_id(live))), inputs, manager)

    def preview_update(self, request: Request, old_inputs: Object, old_outputs: Object, inputs: Object) -> Object:
        """The object that a dry run of the update returns; `inputs` if a dry run is not possible."""
        if not self._dry_runnable(inputs):
            return inputs
        obj, manager = to_api(inputs), self._manager(request, inputs, old_outputs)
        try:
            patch = is_patch(request.type, inputs)
            live = self._applier.update(
                to_api(old_inputs), obj, manager, self._forced(inputs), dry_run=True, patch=patch
            )
        except UnknownKind:
            return inputs
        except (ApiError, Unreachable) as problem:
            if isinstance(problem, ApiError) and problem.code == 403:
                return inputs
            self._update_refused(request, inputs, manager, problem)
        live.pop("status", None)
        return _state(live, inputs, manager)

    def read(self, request: Request, outputs: Object, inputs: Object) -> tuple[str, Object, Object]:
        """Present id, state and inputs of an object; the id is empty if the object or its kind does not exist."""
        found = self.find(_identity(request, inputs or outputs))
        if found is None:
            return "", {}, {}
        shown = as_inputs(found, without_read_only(to_api(inputs))) if inputs else imported_inputs(found)
        state = _state(found, shown, self._manager(request, inputs, outputs))
        try:
            if inputs:
                self.awaiter.check(found, inputs)
        except NotInTime as problem:
            raise NotReady(request.id, state, problem.reasons, _sealed(shown)) from None
        return request.id, state, _sealed(shown)

    def delete(self, request: Request, old_inputs: Object, old_outputs: Object) -> None:
        """Deletes an object and waits until it no longer exists. A missing object is not an error, nor is an object
        whose CRD was deleted.
        """
        known = old_inputs or old_outputs
        obj = _identity(request, known)
        try:
            if is_patch(request.type, known):
                self._applier.relinquish(obj, self._manager(request, known, old_outputs))
                return
            path = self._applier.path(obj)
            policy = annotation(known, DELETION_POLICY).capitalize()
            if policy not in ("Background", "Orphan"):
                policy = "Foreground"
            self.client.request(
                "DELETE", path, {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": policy}
            )
            self.awaiter.deleted(path, {**obj, "metadata": {**metadata(known), **obj["metadata"]}}, request.timeout)
        except UnknownKind:
            return
        except ApiError as problem:
            if problem.code != 404:
                raise Refused(_not_deleted(request, problem)) from None
        except Unreachable as problem:
            raise Refused(f"configured Kubernetes cluster is unreachable: {problem}") from None
        if is_crd(known):
            self.scopes.forget(to_api(known))

    def find(self, obj: Object) -> Object | None:
        """The live object; None if the object or its kind does not exist."""
        try:
            return self.client.find(self._applier.path(obj))
        except UnknownKind:
            return None
        except (ApiError, Unreachable) as problem:
            raise Refused(f"failed to read {obj['kind']} {object_id(obj)}: {problem}") from None

    def _awaited(self, request: Request, live: Object, inputs: Object, manager: str, headline: str) -> Object:
        try:
            return self.awaiter.ready(live, inputs, request.timeout)
        except NotInTime as problem:
            live, reasons = problem.live, problem.reasons
        except (ApiError, Unreachable, Refused) as problem:
            reasons = [str(problem)]
        messages = [f"{headline}: {reasons[0]}", *reasons[1:]]
        raise NotReady(object_id(live), _state(live, inputs, manager), messages)

    def _update_refused(
        self, request: Request, inputs: Object, manager: str, problem: ApiError | Unreachable
    ) -> NoReturn:
        """Raises the error for a refused update: NotReady if the API server gave the error and the object exists,
        otherwise Refused.

        NotReady contains the live object and the new inputs. They differ, so the next run tries the update again.
        """
        live = self.find(to_api(inputs)) if isinstance(problem, ApiError) else None
        if live is None:
            raise Refused(f'update of resource "{request.urn}" failed: {_error_text(problem, manager)}')
        reason = f"{_not_live(object_id(live))}: {_error_text(problem, manager)}"
        raise NotReady(object_id(live), _state(live, inputs, manager), [reason])

    def _dry_runnable(self, inputs: Object) -> bool:
        known = self.settings.server_side_apply and not has_unknown(inputs)
        return known and self.scopes.served(gvk_of(inputs)) is not None

    def _manager(self, request: Request, inputs: Object, outputs: Object) -> str:
        if not self.settings.server_side_apply:
            return "pulumi-kubernetes"
        return annotation(inputs, FIELD_MANAGER) or str(outputs.get(_MANAGER) or field_manager(request.urn))

    def _forced(self, inputs: Object) -> bool:
        return self.settings.patch_force or annotated(inputs, PATCH_FORCE)


def _identity(request: Request, known: Object) -> Object:
    """Kind, namespace and name of a resource, from its id."""
    gvk = gvk_of(known) if known.get("kind") else gvk_of_type(request.type)
    namespace, name = parse_id(request.id)
    held = {"name": name or name_of(known)} | ({"namespace": namespace} if namespace else {})
    if not request.id and namespace_of(known):
        held["namespace"] = namespace_of(known)
    return {"apiVersion": gvk.api_version, "kind": gvk.kind, "metadata": held}


def _state(live: Object, inputs: Object, manager: str) -> Object:
    """The state to store: the live object and its inputs.

    The inputs are secret as a whole, because the engine does not tell the plugin which values in them are secret.
    """
    kept = {_INITIAL_VERSION: inputs.get("apiVersion"), _MANAGER: manager, INPUTS: Secret(dict(inputs))}
    return {**_sealed(from_api(live)), **kept}


def _sealed(obj: Object) -> Object:
    """The object with `data` and `stringData` marked as secret if it is a Secret. Both are marked, because the API
    server returns `stringData` as `data`.
    """
    if not is_secret(obj):
        return obj
    return {key: Secret(value) if key in ("data", "stringData") else value for key, value in obj.items()}


def _error_text(problem: ApiError | Unreachable, manager: str) -> str:
    return explained(problem, manager) if isinstance(problem, ApiError) else str(problem)


def _not_created(request: Request, message: str) -> str:
    return f'resource "{request.urn}" was not successfully created by the Kubernetes API server: {message}'


def _not_live(id: str) -> str:
    return f'the Kubernetes API server reported that "{id}" failed to fully initialize or become live'


def _not_deleted(request: Request, problem: ApiError) -> str:
    causes = cast("list[Mapping[str, Any]]", problem.details.get("causes") or [])
    required = [str(cause.get("field")) for cause in causes if cause.get("reason") == "FieldValueRequired"]
    if request.type.endswith("Patch") and required:
        return (
            "this Patch resource is currently managing a required field, so it can't be deleted directly. Either set "
            "the `retainOnDelete` resource option, or transfer ownership of the field before deleting: " + required[0]
        )
    return str(problem)
