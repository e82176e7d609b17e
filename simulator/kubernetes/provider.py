"""The simulated Kubernetes provider of Pulumi: every kind, patches and Helm releases, against a real API server.

docs/reference/kubernetes-stand-in.md lists the behaviour that is equal to the official plugin's, and the differences.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

from simulator.kubernetes.awaiting import Awaiter
from simulator.kubernetes.checking import check_object
from simulator.kubernetes.client import ApiError, Client, Unreachable
from simulator.kubernetes.diffing import Mutability, diff_config, diff_objects
from simulator.kubernetes.helm import Helm
from simulator.kubernetes.kubeconfig import Kubeconfig, KubeconfigError, load
from simulator.kubernetes.managing import ObjectManager
from simulator.kubernetes.objects import (
    RELEASE_TYPE,
    REPLACE_UNREADY,
    Object,
    annotated,
    inputs_of,
    is_patch,
    to_api,
)
from simulator.kubernetes.options import KubernetesOptions, Settings, settings_from
from simulator.kubernetes.readiness import waiting
from simulator.kubernetes.releases import Releases
from simulator.kubernetes.scopes import Scopes
from simulator.wire import Diff, Failure, Provider, Refused, Request

PACKAGE, VERSION = "kubernetes", "4.34.2"

_FORGET_IT = (
    "If the cluster was deleted, you can remove this resource from Pulumi state by rerunning the operation with the "
    'PULUMI_K8S_DELETE_UNREACHABLE environment variable set to "true"'
)


@dataclass(frozen=True)
class KubernetesFactory:
    """Factory for the Kubernetes providers of one simulator; the host reads `package` and `version` from it."""

    options: KubernetesOptions
    package: str = PACKAGE
    version: str = VERSION

    def __call__(self) -> Provider:
        return Kubernetes(self.options)


def kubernetes_provider(options: KubernetesOptions | None = None) -> KubernetesFactory:
    """The factory of Kubernetes providers to pass to `ProviderHost`."""
    return KubernetesFactory(options or KubernetesOptions())


class Kubernetes(Provider):
    """Kubernetes provider with the configuration of one provider resource."""

    package = PACKAGE
    version = VERSION

    def __init__(self, options: KubernetesOptions | None = None) -> None:
        self._options = options or KubernetesOptions()
        self._settings = Settings()
        self._objects: ObjectManager | None = None
        self._unreachable = "the provider is not configured"
        self._cancelled = threading.Event()
        self._use(None, None)

    def check_config(self, old: Object, new: Object) -> tuple[Object, list[Failure]]:
        if new.get("renderYamlToDirectory"):
            problem = "the simulator applies objects to its cluster and renders no YAML; leave this out"
            return new, [Failure("renderYamlToDirectory", problem)]
        return new, []

    def diff_config(self, old_inputs: Object, old_outputs: Object, new: Object) -> Diff:
        return diff_config(old_inputs or old_outputs, new)

    def cancel(self) -> None:
        self._cancelled.set()

    def configure(self, config: Object) -> None:
        """Connects to the cluster. An unreachable cluster is not an error yet: previews continue without it."""
        self._settings = settings_from(config)
        if not self._settings.kubeconfig:
            self._unreachable = (
                "no kubeconfig was given to the provider; the simulator never uses the one of your shell, "
                "so pass kubeconfig= to kubernetes.Provider"
            )
            return self._use(None, None)
        try:
            kubeconfig = load(self._settings.kubeconfig, self._settings.context, self._settings.cluster)
        except KubeconfigError as problem:
            self._unreachable = f"failed to parse kubeconfig data in `kubernetes:config:kubeconfig`- {problem}"
            return self._use(None, None)
        if refusal := self._options.refused(kubeconfig):
            self._unreachable = refusal
            return self._use(None, None)
        return self._use(kubeconfig, self._connected(kubeconfig))

    def _connected(self, kubeconfig: Kubeconfig) -> Client | None:
        """A client whose server answers. If the server cannot be reached, None, and `_unreachable` contains the
        reason.
        """
        try:
            client = Client(kubeconfig, path=self._options.path)
        except Unreachable as problem:
            self._unreachable = str(problem)
            return None
        try:
            client.get("/version")
        except Unreachable as problem:
            self._unreachable = f"unable to load schema information from the API server: {problem}"
        except ApiError as refusal:
            # Any answer but 401 shows that the server is reachable; missing rights are reported later.
            if refusal.code != 401:
                self._unreachable = ""
                return client
            self._unreachable = f"unable to load schema information from the API server: {refusal}"
        else:
            self._unreachable = ""
            return client
        client.close()
        return None

    def _use(self, kubeconfig: Kubeconfig | None, client: Client | None) -> None:
        self._scopes = Scopes(client)
        self._namespace = self._settings.namespace or (kubeconfig.namespace if kubeconfig else "default")
        helm = Helm(self._options, kubeconfig)
        self._releases = Releases(helm, self._options, self._namespace, self._unreachable, client)
        awaiter = Awaiter(client, self._options.stopping, self._cancelled) if client else None
        self._objects = ObjectManager(client, self._settings, self._scopes, awaiter) if client and awaiter else None

    def _reachable(self) -> ObjectManager:
        if self._objects is None:
            raise Refused(f"configured Kubernetes cluster is unreachable: {self._unreachable}")
        return self._objects

    def check(self, request: Request, old_inputs: Object, inputs: Object) -> tuple[Object, list[Failure]]:
        if self._objects is None and self._settings.skip_update_unreachable and old_inputs:
            return old_inputs, []
        if request.type == RELEASE_TYPE:
            return self._releases.check(request, old_inputs, inputs)
        return check_object(request, old_inputs, inputs, self._scopes, self._namespace)

    def diff(self, request: Request, old_inputs: Object, old_outputs: Object, inputs: Object) -> Diff:
        if request.type == RELEASE_TYPE:
            return self._releases.diff(old_inputs, old_outputs, inputs)
        live = {key: value for key, value in old_outputs.items() if not key.startswith("__")}
        found = diff_objects(
            inputs_of(old_outputs, old_inputs),
            live,
            inputs,
            namespaced=self._scopes.namespaced(inputs),
            mutability=Mutability(self._settings.config_maps_mutable, self._settings.secrets_mutable),
            patch=is_patch(request.type, inputs),
        )
        if annotated(inputs, REPLACE_UNREADY) and inputs.get("kind") == "Job" and self._objects is not None:
            now = self._objects.find(to_api(live))
            if now is not None and waiting(now) is not None:
                path = f'metadata.annotations["{REPLACE_UNREADY}"]'
                return Diff({**found.changes, path: "update"}, [*found.replaces, path], found.delete_before_replace)
        return found

    def create(self, request: Request, inputs: Object) -> tuple[str, Object]:
        if request.type == RELEASE_TYPE:
            return self._releases.create(request, inputs)
        if request.preview:
            return "", self._objects.preview_create(request, inputs) if self._objects else inputs
        return self._reachable().create(request, inputs)

    def update(self, request: Request, old_inputs: Object, old_outputs: Object, inputs: Object) -> Object:
        if request.type == RELEASE_TYPE:
            return self._releases.update(request, old_outputs, inputs)
        if request.preview:
            if self._objects is None:
                return inputs
            return self._objects.preview_update(request, old_inputs, old_outputs, inputs)
        return self._reachable().update(request, old_inputs, old_outputs, inputs)

    def read(self, request: Request, outputs: Object, inputs: Object) -> tuple[str, Object, Object]:
        if self._objects is None:
            if self._settings.delete_unreachable:
                return "", {}, {}
            if self._settings.skip_update_unreachable:
                return request.id, outputs, inputs
            raise Refused(
                f"configured Kubernetes cluster is unreachable: {self._unreachable}\n"
                f"failed to read resource state due to unreachable cluster. {_FORGET_IT}"
            )
        if request.type == RELEASE_TYPE:
            return self._releases.read(request, outputs, inputs)
        return self._objects.read(request, outputs, inputs)

    def delete(self, request: Request, old_inputs: Object, old_outputs: Object) -> None:
        if request.type == RELEASE_TYPE:
            return self._releases.delete(request, old_inputs or old_outputs)
        if self._objects is None:
            if self._settings.delete_unreachable:
                return None
            raise Refused(f"configured Kubernetes cluster is unreachable: {self._unreachable}\n{_FORGET_IT}")
        return self._objects.delete(request, old_inputs, old_outputs)
