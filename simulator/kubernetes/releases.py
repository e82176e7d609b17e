"""The resource kubernetes:helm.sh/v3:Release, operated by the real helm.

Behaviour: pulumi-kubernetes v4, provider/pkg/provider/helm_release.go.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import yaml

from physical_ai import safe_yaml
from simulator.kubernetes.client import Client
from simulator.kubernetes.definitions import create_definitions
from simulator.kubernetes.diffing import member, three_way
from simulator.kubernetes.helm import Document, Helm, HelmFailed
from simulator.kubernetes.helm_flags import CHART_FLAGS, REPOSITORY_OPTIONS, operation_arguments
from simulator.kubernetes.objects import INPUTS, Object, autoname, inputs_of, parse_id, without_nulls
from simulator.kubernetes.options import KubernetesOptions
from simulator.kubernetes.release_state import info, over, resource_names, revision_of, state_of
from simulator.wire import (
    UNKNOWN,
    Diff,
    Failure,
    NotReady,
    Refused,
    Request,
    changes,
    has_unknown,
)

DEFAULT_SECONDS = 300
_COMPUTED = ("checksum", "resourceNames")
_PREFIXES = {"install": "INSTALLATION FAILED: ", "upgrade": "UPGRADE FAILED: "}
"""Beginnings of error messages that the `helm` command adds. The official plugin calls helm's Go library, which does
not add them.
"""
_UNTOUCHED = ("cannot re-use a name that is still in use", "another operation (install/upgrade/rollback)")
"""Messages of helm that mean that it has refused the operation and left the release unchanged (helm 3,
pkg/action/{install,upgrade}.go).
"""


@dataclass(frozen=True)
class Releases:
    """Operations of one Kubernetes provider on Release resources.

    `namespace`: default namespace of the provider. `unreachable`: reason why the cluster cannot be reached; empty if it
    can.
    """

    helm: Helm
    options: KubernetesOptions
    namespace: str
    unreachable: str = ""
    client: Client | None = None
    """Client of the cluster; None if there is no cluster."""

    def check(self, request: Request, old: Object, inputs: Object) -> tuple[Object, list[Failure]]:
        """The release's inputs with name, namespace and timeout filled in, and the failures found.

        If every input is known, the chart is rendered and its checksum is added.
        """
        release = {key: value for key, value in inputs.items() if not _unset(value)}
        if not release.get("name"):
            release["name"] = old.get("name") or autoname(request)
        release.setdefault("namespace", self.namespace)
        if not release.get("skipAwait"):
            release.setdefault("timeout", DEFAULT_SECONDS)
        if not release.get("chart"):
            return release, [Failure("chart", "is required: the name, path or OCI address of a chart")]
        if not release.get("version") and (version := self._version_of(str(release["chart"]))):
            release["version"] = version
        if has_unknown(release):
            return release, []
        try:
            values = self._values(release)
            release = {key: value for key, value in release.items() if key not in ("values", "valueYamlFiles")}
            release |= {"values": values} if values else {}
            manifest = self._template(release)
        except (HelmFailed, OSError, yaml.YAMLError) as problem:
            return release, [Failure("chart", f"{problem}; check the chart name and repository configuration.")]
        release["checksum"] = hashlib.sha256(manifest.encode()).hexdigest()
        release["resourceNames"] = resource_names(manifest)
        return release, []

    def diff(self, old_inputs: Object, old_outputs: Object, inputs: Object) -> Diff:
        """Differences between the new inputs and the release's state. A field of the inputs that somebody changed in
        the release is a difference, too, and is corrected.

        The checksum and the resource names are not compared, as in the plugin since 4.11 (pulumi-kubernetes#2672).
        """
        declared, current, wanted = (
            without_nulls({"values": {}, **{key: value for key, value in side.items() if key not in _COMPUTED}})
            for side in (inputs_of(old_outputs, old_inputs), old_outputs, inputs)
        )
        found = changes(three_way(declared, current, wanted), wanted, member=member)
        return Diff(found, ("name", "namespace"), of_inputs=False)

    def create(self, request: Request, inputs: Object) -> tuple[str, Object]:
        if request.preview:
            return "", {**inputs, "status": UNKNOWN}
        if self.unreachable:
            raise Refused(f"can't create Helm Release with unreachable cluster: {self.unreachable}")
        id = f"{inputs['namespace']}/{inputs['name']}"
        headline = f'Helm release "{id}" was created, but failed to initialize completely. Use Helm CLI to investigate'
        return id, self._operate("install", request, inputs, headline)

    def update(self, request: Request, old_outputs: Object, inputs: Object) -> Object:
        if request.preview:
            return {**inputs, "status": UNKNOWN}
        if self.unreachable:
            raise Refused(f"can't update Helm Release with unreachable cluster: {self.unreachable}")
        id = f"{inputs['namespace']}/{inputs['name']}"
        headline = f'Helm release "{id}" failed to initialize completely. Use Helm CLI to investigate'
        return self._operate("upgrade", request, inputs, headline, revision_of(old_outputs))

    def read(self, request: Request, outputs: Object, inputs: Object) -> tuple[str, Object, Object]:
        """Id, state and inputs of the release as helm reports it; the id is empty if the release does not exist. A
        failed release is not an error, so a refresh removes the failure from the engine's state.

        The returned inputs are the inputs of the last operation, even if it failed. After a failed upgrade and a
        refresh, the engine therefore finds a change only if somebody changed a declared value after the operation.
        """
        namespace, name = parse_id(request.id)
        try:
            live = self.helm.last_release(name, namespace)
            if live is None:
                return "", {}, {}
            chart = self.helm.chart_of(name, namespace)
        except HelmFailed as problem:
            raise Refused(f"failed to read Helm release {request.id}: {problem}") from None
        imported = {"name": name, "namespace": namespace, "chart": chart.get("name"), "values": live.get("config")}
        found = dict(inputs_of(outputs, inputs)) or {key: value for key, value in imported.items() if value}
        kept = {key: value for key, value in outputs.items() if key != INPUTS}
        return request.id, state_of(kept or found, found, live, chart), found

    def delete(self, request: Request, old: Object) -> None:
        if self.unreachable:
            raise Refused(f'can\'t delete Helm Release with unreachable cluster. Reason: "{self.unreachable}"')
        namespace, name = parse_id(request.id)
        seconds = _seconds(request, old)
        wait = ["--wait", "--timeout", f"{seconds}s"] if old.get("atomic") or not old.get("skipAwait") else []
        try:
            self.helm.run("uninstall", name, "--namespace", namespace, *wait, seconds=seconds)
        except HelmFailed as problem:
            raise Refused(str(problem)) from None

    def _operate(
        self, verb: Literal["install", "upgrade"], request: Request, inputs: Object, headline: str, revision: int = 0
    ) -> Object:
        """Installs or upgrades the release with helm; returns its state.

        Raises NotReady if helm fails and leaves a failed revision that is newer than `revision`, and Refused if it
        leaves none. helm refuses to touch a release while another process installs or upgrades it, or after a process
        was killed while doing so.
        """
        name, namespace = str(inputs["name"]), str(inputs["namespace"])
        seconds = _seconds(request, inputs)
        try:
            if verb == "install" and self.client is not None and not inputs.get("skipCrds"):
                create_definitions(self.client, self._template(inputs), name, namespace)
            arguments = [*self._chart_arguments(inputs), *operation_arguments(inputs, seconds, verb == "install")]
            done = self.helm.run(
                verb,
                *arguments,
                "--output",
                "json",
                stdin=_dump(inputs.get("values")),
                seconds=seconds,
            )
        except HelmFailed as problem:
            message = str(problem).removeprefix(_PREFIXES[verb])
            outputs = None if any(sign in message for sign in _UNTOUCHED) else self._left_behind(inputs, revision)
            if outputs is None:
                raise Refused(message) from None
            reason = (
                f"{headline}: failed to become available within allocated timeout. "
                f"Error: Helm Release {namespace}/{name}: {message}"
            )
            raise NotReady(f"{namespace}/{name}", outputs, [reason]) from None
        live: Document = json.loads(done)
        chart = cast("Document", live.get("chart") or {})
        return state_of(inputs, inputs, live, cast("Document", chart.get("metadata") or {}))

    def _version_of(self, chart: str) -> str:
        """The version in the Chart.yaml of a local chart; empty for other charts. The official plugin reads the version
        of every chart.
        """
        file = self.options.working_directory / chart / "Chart.yaml"
        found: Any = safe_yaml.load(file.read_text()) if file.is_file() else None
        return str(cast("Document", found).get("version") or "") if isinstance(found, dict) else ""

    def _left_behind(self, inputs: Object, revision: int) -> Object | None:
        """State of the failed revision that a helm command has left behind; None if no failed revision is newer than
        `revision`.
        """
        name, namespace = str(inputs["name"]), str(inputs["namespace"])
        try:
            live = self.helm.last_release(name, namespace)
            if live is None or info(live).get("status") != "failed" or int(live.get("version") or 0) <= revision:
                return None
            return state_of(inputs, inputs, live, self.helm.chart_of(name, namespace))
        except HelmFailed:
            return None

    def _template(self, release: Object) -> str:
        flags = [] if release.get("skipCrds") else ["--include-crds"]
        flags += ["--no-hooks"] if release.get("disableWebhooks") else []
        arguments = ["template", *self._chart_arguments(release), *flags]
        values = cast("Document", release.get("values") or {})

        def render() -> str:
            return self.helm.run(*arguments, stdin=_dump(values))

        kept = self.options.rendered
        helm = Path(self.options.helm).parent.name  # has the digest of what it was built from
        return kept.rendered([helm, *arguments], values, render) if kept is not None else render()

    def _chart_arguments(self, release: Object) -> list[str]:
        """Arguments for the release name, the chart, the chart's repository, and values from standard input."""
        repository = cast("Document", release.get("repositoryOpts") or {})
        version = str(release.get("version") or "")
        local = self.options.chart_source(str(release["chart"]), version, str(repository.get("repo") or ""))
        arguments = [str(release["name"]), str(local or release["chart"]), "--namespace", str(release["namespace"])]
        arguments += ["--values", "-"]
        if local is None:
            arguments += ["--version", version] if version else []
            for key, flag in REPOSITORY_OPTIONS.items():
                arguments += [flag, str(repository[key])] if repository.get(key) else []
        for key, flag in (
            ("description", "--description"),
            ("postrender", "--post-renderer"),
            ("keyring", "--keyring"),
        ):
            arguments += [flag, str(release[key])] if release.get(key) else []
        return arguments + [flag for key, flag in CHART_FLAGS.items() if release.get(key)]

    def _values(self, release: Object) -> Document:
        """Values of the release: the values files, in order, overridden by the inline values."""
        merged: Document = {}
        for asset in cast("list[Document]", release.get("valueYamlFiles") or []):
            text = asset.get("text")
            if text is None and asset.get("path"):
                text = (self.options.working_directory / str(asset["path"])).read_text()
            loaded: Any = safe_yaml.load(str(text or ""))
            if loaded is not None and not isinstance(loaded, dict):
                raise HelmFailed(f"values file {asset.get('path') or '(text)'} is not a map of values")
            merged = over(merged, cast("Document", loaded or {}))
        return over(merged, cast("Document", release.get("values") or {}))


def _seconds(request: Request, release: Mapping[str, Any]) -> int:
    return int(release.get("timeout") or request.timeout or DEFAULT_SECONDS)


def _unset(value: Any) -> bool:
    return value is not UNKNOWN and not value


def _dump(values: Any) -> str:
    return safe_yaml.dump(values or {})
