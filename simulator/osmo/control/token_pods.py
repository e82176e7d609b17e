"""Pods of the Job that creates the agents' token: the deployed program runs with the Pod's files and variables.

The program is a process on this machine, with the Pod's files, arguments and variables. It reaches the real API server
with a token of the Pod's service account, so roles and admission policies apply to it. Names of Services lead to the
simulated gateway.
"""

from __future__ import annotations

import base64
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.parse
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from simulator.cluster.objects import Json, at, is_terminating, name, timestamp
from simulator.cluster.pods import ended
from simulator.kubernetes.client import MERGE_PATCH, ApiError, Client
from simulator.operators import mounts
from simulator.osmo.service import as_account

SELECTOR = "app.kubernetes.io/name=osmo-token"
"""Selector of the Pods. KWOK leaves them alone (kwok.yaml)."""
ACCOUNT = "var/run/secrets/kubernetes.io/serviceaccount"
MESSAGE_BYTES = 4096
POLL_SECONDS = 0.1
STRATEGIC = "application/strategic-merge-patch+json"
log = logging.getLogger("osmo")


@dataclass(frozen=True)
class _Run:
    pod: Json
    process: subprocess.Popen[bytes]
    folder: Path


class TokenPods:
    """Runs the Pods of the token Job as local processes.

    `gateway`: function that returns the loopback address to use in place of the cluster's Services; empty if the
    program only needs the API server.
    """

    def __init__(
        self,
        client: Client,
        pods: Callable[[], Iterable[Json]],
        gateway: Callable[[], str],
        gateway_of: Callable[[str], str] = lambda vault: "",
    ) -> None:
        """Creates the runner. `gateway_of`: function that returns the address of the control plane whose stack has the
        vault with the given name; empty if no simulation has this vault.
        """
        self._client, self._pods, self._gateway, self._gateway_of = client, pods, gateway, gateway_of
        self._running: dict[str, _Run] = {}
        self._over: set[str] = set()
        """UIDs of Pods that have ended and whose status says so, although the watch still shows them as running."""
        self._reported: dict[str, mounts.StartProblem] = {}

    def run(self) -> float | None:
        """Runs one round; returns the seconds until the next one while a Pod runs or waits, else None."""
        pods = {str(at(pod, "metadata.uid")): pod for pod in self._pods()}
        for uid, run in list(self._running.items()):
            if uid not in pods or is_terminating(pods[uid]):
                self._stop(uid)
            elif run.process.poll() is not None:
                self._end(uid)
        self._over &= set(pods)
        waits = False
        for uid, pod in pods.items():
            is_new = at(pod, "status.phase") in (None, "Pending") and at(pod, "spec.nodeName")
            if uid in self._running or uid in self._over or not is_new or is_terminating(pod):
                continue
            why = mounts.start_problem(pod, self._find)
            if why is None:
                self._running[uid] = self._start(pod)
            else:
                waits = True
                self._report(uid, pod, why)
        return POLL_SECONDS if waits or self._running else None

    def close(self) -> None:
        for uid in list(self._running):
            self._stop(uid)

    def _report(self, uid: str, pod: Json, why: mounts.StartProblem) -> None:
        if self._reported.get(uid) != why:
            self._reported[uid] = why
            self._patch(pod, {"status": mounts.status(pod, why, timestamp())}, STRATEGIC)

    def _start(self, pod: Json) -> _Run:
        folder = Path(tempfile.mkdtemp(prefix="osmo-token-"))
        try:
            container = self._mount(pod, folder)
            server = urllib.parse.urlsplit(self._client.server)
            environment = {
                "PATH": os.environ.get("PATH", ""),
                "KUBERNETES_SERVICE_HOST": str(server.hostname),
                "KUBERNETES_SERVICE_PORT": str(server.port),
                **{each["name"]: _below(folder, container, str(each["value"])) for each in container.get("env") or ()},
            }
            command = [str(each) for each in container["command"]]
            given = [str(each) for each in container.get("args") or ()]
            arguments = [self._argument(folder, container, each, given) for each in given]
            arguments += [f"--authority={gateway}/entra"] if (gateway := self._gateway()) else []
            with (folder / "output").open("wb") as output:
                process = subprocess.Popen(
                    [sys.executable, *command[1:], *arguments, f"--account={folder / ACCOUNT}"],
                    cwd=folder,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                )
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return _Run(pod, process, folder)

    def _mount(self, pod: Json, folder: Path) -> Json:
        """Writes the files that the Pod mounts below `folder`, and returns the Pod's container."""
        (container,) = pod["spec"]["containers"]
        namespace = str(at(pod, "metadata.namespace"))
        paths = {str(each["name"]): str(each["mountPath"]) for each in container.get("volumeMounts") or ()}
        account_name = str(at(pod, "spec.serviceAccountName"))
        for volume in at(pod, "spec.volumes", []):
            target = folder / paths.get(volume["name"], "none").lstrip("/")
            if volume.get("projected") and volume["name"] in paths:
                self._project(volume["projected"], target, namespace, account_name)
                continue
            for path, content in self._content(volume, namespace).items():
                (target / path).parent.mkdir(parents=True, exist_ok=True)
                (target / path).write_bytes(content)
        account = folder / ACCOUNT
        account.mkdir(parents=True)
        session = as_account(self._client, namespace, str(at(pod, "spec.serviceAccountName")))
        (account / "token").write_text(session.config.token)
        (account / "ca.crt").write_text(self._client.config.authority)
        session.close()
        return container

    def _project(self, volume: Json, target: Path, namespace: str, account: str) -> None:
        """Writes tokens of the Pod's service account for the audiences in a projected volume, as the kubelet does."""
        for source in volume.get("sources") or ():
            wanted: Json | None = source.get("serviceAccountToken")
            if wanted and wanted.get("audience"):
                spec = {"audiences": [wanted["audience"]], "expirationSeconds": 3600}
                body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
                path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token"
                target.mkdir(parents=True, exist_ok=True)
                (target / wanted["path"]).write_text(self._client.request("POST", path, body)["status"]["token"])

    def _content(self, volume: Json, namespace: str) -> Mapping[str, bytes]:
        """Files of a volume: content by path. Files of a Secret are written into a folder that only the current user
        can read.
        """
        source, kind = volume.get("configMap"), "ConfigMap"
        if volume.get("secret"):
            source, kind = {**volume["secret"], "name": volume["secret"]["secretName"]}, "Secret"
        if source is None:
            return {}
        data: Mapping[str, str] = at(self._find(kind, namespace, str(source["name"])) or {}, "data", {})
        items: list[Json] = source.get("items") or [{"key": key, "path": key} for key in data]
        decode: Callable[[str], bytes] = base64.b64decode if kind == "Secret" else str.encode
        return {str(item["path"]): decode(data[item["key"]]) for item in items}

    def _argument(self, folder: Path, container: Json, text: str, given: list[str]) -> str:
        key, separator, value = text.partition("=")
        if key == "--vault":
            return f"{key}{separator}{self._gateway()}/vault/{_vault(value)}"
        if key == "--service" and given[0] == "fetch":
            theirs = next((_vault(each.partition("=")[2]) for each in given if each.startswith("--vault=")), "")
            return f"{key}{separator}{self._gateway_of(theirs) or value}"
        if key == "--service":
            return f"{key}{separator}{self._resolved(value)}"
        return f"{key}{separator}{_below(folder, container, value)}"

    def _resolved(self, url: str) -> str:
        """The URL to use in place of `url`. For an existing Service of the cluster, it is the URL of the simulated
        gateway; for anything else, `url` itself.
        """
        host = urllib.parse.urlsplit(url).hostname or ""
        parts = host.split(".")
        if len(parts) > 2 and parts[2] == "svc" and self._find("Service", parts[1], parts[0]) is None:
            return url  # this machine does not resolve the name either
        return self._gateway()

    def _end(self, uid: str) -> None:
        run = self._running.pop(uid)
        self._over.add(uid)
        code = run.process.returncode
        text = (run.folder / "output").read_text(errors="replace")
        shutil.rmtree(run.folder, ignore_errors=True)
        log.info("%s ended with %d: %s", name(run.pod), code, text.strip())
        container = str(run.pod["spec"]["containers"][0]["name"])
        # terminationMessagePolicy: FallbackToLogsOnError
        message = text.strip()[-MESSAGE_BYTES:] if code else ""
        self._patch(run.pod, {"status": ended(run.pod, {container: (1 if code else 0, message)})}, MERGE_PATCH)

    def _stop(self, uid: str) -> None:
        run = self._running.pop(uid)
        run.process.kill()
        run.process.wait()
        shutil.rmtree(run.folder, ignore_errors=True)

    def _find(self, kind: str, namespace: str, key: str) -> Json | None:
        return self._client.find(f"/api/v1/namespaces/{namespace}/{kind.lower()}s/{key}")

    def _patch(self, pod: Json, body: Json, kind: str) -> None:
        path = f"/api/v1/namespaces/{at(pod, 'metadata.namespace')}/pods/{name(pod)}/status"
        try:
            self._client.patch(path, body, kind)
        except ApiError as refusal:
            if refusal.code not in (404, 409):
                raise


def _below(folder: Path, container: Json, value: str) -> str:
    """Path below `folder` for the path `value`, if `value` is inside a mount of the container or contains one. Any
    other `value` is returned unchanged.
    """
    mounted = [str(each["mountPath"]) for each in container.get("volumeMounts") or ()]
    if value.startswith("/") and any(path.startswith(value) or value.startswith(path) for path in mounted):
        return str(folder / value.lstrip("/"))
    return value


def is_ours(pod: Json) -> bool:
    """True for a Pod, in any namespace, that runs the program which creates the agents' token."""
    key, _, value = SELECTOR.partition("=")
    labels: Json = at(pod, "metadata.labels", {})
    return labels.get(key) == value


def _vault(url: str) -> str:
    """Name of a key vault, taken from the vault's URL."""
    return (urllib.parse.urlsplit(url).hostname or "").partition(".")[0]
