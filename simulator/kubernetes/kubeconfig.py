"""Kubeconfigs: the cluster and the credentials of the active context, and the document to pass to `helm`."""

from __future__ import annotations

import base64
import binascii
import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import yaml

from physical_ai import safe_yaml
from physical_ai.untrusted.syntax_errors import meaning

Document = dict[str, Any]


class KubeconfigError(Exception):
    """Error if the kubeconfig can't be used; the text gives the reason."""


@dataclass(frozen=True)
class ExecCommand:
    """The `exec` section of a user: a command that prints an ExecCredential (client.authentication.k8s.io)."""

    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    api_version: str = "client.authentication.k8s.io/v1"
    install_hint: str = ""
    provide_cluster_info: bool = False


@dataclass(frozen=True)
class Kubeconfig:
    """The active context of a kubeconfig."""

    server: str
    """URL of the API server, without a trailing slash."""
    namespace: str
    """Namespace of the context; "default" if it names none, as in kubectl."""
    document: Document
    """The complete kubeconfig, with the chosen context as current-context."""
    authority: str = ""
    """CA certificates in PEM; if empty, the CA certificates of the system are used."""
    verify: bool = True
    certificate: bytes = b""
    key: bytes = b""
    token: str = ""
    exec: ExecCommand | None = None
    folder: Path | None = None
    """Folder of the kubeconfig file, to which relative paths in the file refer; None if the kubeconfig was given as
    text.
    """

    @property
    def text(self) -> str:
        """The kubeconfig as YAML, for tools that need a file."""
        return safe_yaml.dump(self.document)


def load(source: str | Path | Mapping[str, Any], context: str = "", cluster: str = "") -> Kubeconfig:
    """Reads a kubeconfig from text, a path or a parsed document; `context` and `cluster` override the kubeconfig's own
    choice.

    Raises KubeconfigError if it cannot be parsed, or the context, cluster or user that it names is missing.
    """
    document, folder = _parse(source)
    active = _active_context(document, context)
    cluster_name = cluster or str(active.get("cluster", ""))
    stanza = _named(document, "clusters", "cluster", cluster_name)
    user = _named(document, "users", "user", str(active.get("user", "")))
    server = stanza.get("server")
    if not isinstance(server, str) or not server:
        raise KubeconfigError(f"kubeconfig: cluster '{cluster_name}' has no server")
    return Kubeconfig(
        server=server.rstrip("/"),
        namespace=str(active.get("namespace") or "default"),
        document=_with_choice(document, context, cluster),
        authority=_data(stanza, "certificate-authority", folder).decode(),
        verify=stanza.get("insecure-skip-tls-verify") is not True,
        certificate=_data(user, "client-certificate", folder),
        key=_data(user, "client-key", folder),
        token=_token(user, folder),
        exec=_exec(user),
        folder=folder,
    )


def active_cluster(source: object, context: str = "", cluster: str = "") -> Document | None:
    """The cluster section that is in effect in a kubeconfig. A provider compares these sections to find out if it
    points at another cluster.

    None if the kubeconfig is missing or broken, or if it has no such cluster.
    """
    if not isinstance(source, str | Mapping) or not source:
        return None
    try:
        document, _ = _parse(cast("str | Mapping[str, Any]", source))
        active = _active_context(document, context)
        return _named(document, "clusters", "cluster", cluster or str(active.get("cluster", "")))
    except KubeconfigError:
        return None


def _parse(source: str | Path | Mapping[str, Any]) -> tuple[Document, Path | None]:
    if isinstance(source, Mapping):
        return dict(source), None
    folder: Path | None = None
    text = str(source)
    if isinstance(source, Path) or ("\n" not in text and not text.lstrip().startswith("{")):
        path = Path(text).expanduser()
        try:
            folder, text = path.parent, path.read_text()
        except OSError as problem:
            raise KubeconfigError(f"kubeconfig {path}: {problem.strerror}") from None
    try:
        document = safe_yaml.load(text)
    except yaml.YAMLError as problem:
        raise KubeconfigError(f"kubeconfig: not YAML ({meaning(problem)})") from None
    if not isinstance(document, dict):
        raise KubeconfigError("kubeconfig: neither a kubeconfig nor the path of one")
    return cast("Document", document), folder


def _active_context(document: Document, context: str) -> Document:
    name = context or str(document.get("current-context") or "")
    if not name:
        raise KubeconfigError("kubeconfig: no current-context, and no context was chosen")
    return _named(document, "contexts", "context", name)


def _named(document: Document, section: str, part: str, name: str) -> Document:
    entries = cast("list[Document]", document.get(section) or [])
    for entry in entries:
        if entry.get("name") == name:
            return cast("Document", entry.get(part) or {})
    known = ", ".join(sorted(str(entry.get("name")) for entry in entries)) or "none"
    raise KubeconfigError(f"kubeconfig: {part} '{name}' does not exist; it has: {known}")


def _with_choice(document: Document, context: str, cluster: str) -> Document:
    chosen = copy.deepcopy(document)
    if context:
        chosen["current-context"] = context
    if cluster:
        _active_context(chosen, context)["cluster"] = cluster
    return chosen


def _data(stanza: Document, key: str, folder: Path | None) -> bytes:
    """Content of `<key>-data` (inline base64), or of the file that `<key>` names."""
    inline, named = stanza.get(f"{key}-data"), stanza.get(key)
    if inline:
        try:
            return base64.b64decode(str(inline), validate=True)
        except binascii.Error as problem:
            raise KubeconfigError(f"kubeconfig: {key}-data is not base64 ({problem})") from None
    if named:
        return _file(str(named), folder, key)
    return b""


def _token(user: Document, folder: Path | None) -> str:
    if user.get("token"):
        return str(user["token"])
    return _file(str(user["tokenFile"]), folder, "tokenFile").decode().strip() if user.get("tokenFile") else ""


def _file(name: str, folder: Path | None, key: str) -> bytes:
    path = (folder or Path.cwd()) / Path(name).expanduser()
    try:
        return path.read_bytes()
    except OSError as problem:
        raise KubeconfigError(f"kubeconfig: {key} {path} can't be read ({problem.strerror})") from None


def _exec(user: Document) -> ExecCommand | None:
    stanza = cast("Document | None", user.get("exec"))
    if not stanza:
        return None
    env = cast("list[dict[str, str]]", stanza.get("env") or [])
    return ExecCommand(
        command=str(stanza.get("command") or ""),
        args=tuple(str(item) for item in cast("list[Any]", stanza.get("args") or [])),
        env={item["name"]: str(item["value"]) for item in env},
        api_version=str(stanza.get("apiVersion") or "client.authentication.k8s.io/v1"),
        install_hint=str(stanza.get("installHint") or "").strip(),
        provide_cluster_info=stanza.get("provideClusterInfo") is True,
    )
