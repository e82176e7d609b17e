"""Exec credentials: runs the login command of a kubeconfig, such as `kubelogin`, and keeps its last answer."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

from simulator.kubernetes.kubeconfig import ExecCommand, Kubeconfig

_SUPPORTED = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
_LOGIN_SECONDS = 120
"""Time limit of a login in seconds. A login that takes longer is assumed to wait for a person."""
_EARLY = timedelta(seconds=10)
"""Time before the expiry of a token at which the token is renewed, so that it does not expire during a request."""


class CredentialError(Exception):
    """Error if the exec command returned no credential; the text gives the reason and a hint."""


@dataclass(frozen=True)
class Credential:
    """Answer of an exec command: a bearer token, a client certificate with its key, or both."""

    token: str = ""
    certificate: str = ""
    key: str = ""
    expires: datetime | None = None

    def usable(self, now: datetime) -> bool:
        return self.expires is None or now < self.expires - _EARLY


class ExecCredentials:
    """Runs the exec command of a kubeconfig when a credential is needed, and keeps the answer until it expires."""

    def __init__(self, config: Kubeconfig, path: str | None = None) -> None:
        """Prepares the exec command of `config`. `path`: PATH for finding and running the command; None for the PATH of
        this process.
        """
        if config.exec is None:
            raise ValueError("the kubeconfig's user has no exec stanza")
        self._exec, self._config, self._path = config.exec, config, path
        self._lock = threading.Lock()
        self._credential: Credential | None = None

    def current(self, rejected: Credential | None = None) -> Credential:
        """A credential that has not expired.

        `rejected`: credential to which the server has answered 401; it is not returned again.
        """
        with self._lock:
            held = self._credential
            if held is None or held is rejected or not held.usable(datetime.now(UTC)):
                held = self._credential = self._login()
            return held

    def _login(self) -> Credential:
        if self._exec.api_version not in _SUPPORTED:
            raise CredentialError(
                f"kubeconfig: exec apiVersion {self._exec.api_version} is not supported; use {_SUPPORTED[0]}"
            )
        env = {**os.environ, **self._exec.env, "KUBERNETES_EXEC_INFO": json.dumps(self._request())}
        if self._path is not None:
            env["PATH"] = self._path
        try:
            done = subprocess.run(
                [self._program(), *self._exec.args],
                env=env,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=_LOGIN_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise CredentialError(
                f"getting credentials: {self._exec.command} did not answer in {_LOGIN_SECONDS} s; "
                "is its login mode one that waits for a person?"
            ) from None
        except OSError as problem:
            raise CredentialError(
                f"getting credentials: {self._exec.command} can't be run ({problem.strerror})"
            ) from None
        if done.returncode:
            said = (done.stderr.strip() or done.stdout.strip())[-2000:]
            raise CredentialError(
                f"getting credentials: {self._exec.command} failed with exit code {done.returncode}: {said}"
            )
        return parse_credential(done.stdout, self._exec)

    def _program(self) -> str:
        command = self._exec.command
        if "/" in command:
            return str((self._config.folder or Path.cwd()) / command)
        found = shutil.which(command, path=self._path)
        if found is None:
            hint = f"\n{self._exec.install_hint}" if self._exec.install_hint else ""
            raise CredentialError(
                f"getting credentials: {command} is not on PATH; the kubeconfig logs in with it, so install it{hint}"
            )
        return found

    def _request(self) -> dict[str, Any]:
        spec: dict[str, Any] = {"interactive": False}
        if self._exec.provide_cluster_info:
            spec["cluster"] = {"server": self._config.server}
        return {"apiVersion": self._exec.api_version, "kind": "ExecCredential", "spec": spec}


def parse_credential(text: str, source: ExecCommand) -> Credential:
    """The credential in an ExecCredential document; raises CredentialError if there is none."""
    try:
        document: Any = json.loads(text)
        status = cast("dict[str, Any]", document["status"])
        credential = Credential(
            token=str(status.get("token") or ""),
            certificate=str(status.get("clientCertificateData") or ""),
            key=str(status.get("clientKeyData") or ""),
            expires=_instant(status.get("expirationTimestamp")),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        raise CredentialError(
            f"getting credentials: {source.command} printed no ExecCredential: {text.strip()[:200]!r}"
        ) from None
    if document.get("apiVersion") != source.api_version:
        raise CredentialError(
            f"getting credentials: {source.command} answered with {document.get('apiVersion')}, "
            f"the kubeconfig asks for {source.api_version}"
        )
    if not credential.token and not (credential.certificate and credential.key):
        raise CredentialError(f"getting credentials: {source.command} gave neither a token nor a certificate with key")
    return credential


def _instant(text: object) -> datetime | None:
    if not text:
        return None
    moment = datetime.fromisoformat(str(text).replace("Z", "+00:00"))
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
