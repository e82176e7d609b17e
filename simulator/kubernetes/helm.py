"""The `helm` command, run against one cluster."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from simulator.kubernetes.kubeconfig import Kubeconfig
from simulator.kubernetes.options import KubernetesOptions
from simulator.processes import GO_COLLECTION

Document = dict[str, Any]

_GRACE_SECONDS = 60
"""Seconds beyond its own --timeout after which a helm command counts as hung."""


class HelmFailed(Exception):
    """Error if helm failed; the text is helm's message."""


class Helm:
    """Runs helm with a provider's kubeconfig and without plugins."""

    def __init__(self, options: KubernetesOptions, config: Kubeconfig | None) -> None:
        """Prepares helm. `config`: helm's kubeconfig; with None, only commands without a cluster work."""
        self._options, self._config = options, config

    def run(self, *arguments: str, stdin: str | None = None, seconds: float = 300) -> str:
        """Standard output of one helm command; `seconds` is the command's --timeout. Raises HelmFailed."""
        with tempfile.TemporaryDirectory(prefix="helm-") as folder:  # 0700: the kubeconfig may hold keys
            kubeconfig = Path(folder) / "kubeconfig"
            kubeconfig.write_text(self._config.text if self._config else "")
            try:
                done = subprocess.run(
                    [self._program(), *arguments],
                    input=stdin,
                    capture_output=True,
                    text=True,
                    env=self._environment(kubeconfig),
                    cwd=self._options.working_directory,
                    timeout=seconds + _GRACE_SECONDS,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                raise HelmFailed(f"helm {arguments[0]} did not end in {seconds + _GRACE_SECONDS:g} s") from None
        if done.returncode:
            raise HelmFailed(_message(done.stderr))
        return done.stdout

    def document(self, *arguments: str) -> Document:
        """The JSON that a helm command prints with `--output json`."""
        return cast("Document", json.loads(self.run(*arguments, "--output", "json")))

    def last_release(self, name: str, namespace: str) -> Document | None:
        """`helm status` of the release's newest revision, including its values and manifest; None if the release does
        not exist.
        """
        try:
            return self.document("status", name, "--namespace", namespace)
        except HelmFailed as problem:
            if "not found" in str(problem):
                return None
            raise

    def chart_of(self, name: str, namespace: str) -> Document:
        """Name, version and appVersion of the chart of a release's newest revision."""
        found = self.document("get", "metadata", name, "--namespace", namespace)
        return {"name": found.get("chart"), "version": found.get("version"), "appVersion": found.get("appVersion")}

    def history(self, name: str, namespace: str) -> Sequence[Document]:
        """The revisions helm has kept, oldest first."""
        return cast(
            "list[Document]", json.loads(self.run("history", name, "--namespace", namespace, "--output", "json"))
        )

    def _program(self) -> str:
        found = shutil.which(self._options.helm, path=self._options.path)
        if found is None:
            raise HelmFailed(f"{self._options.helm} does not exist; helm.v3.Release needs it")
        return found

    def _environment(self, kubeconfig: Path) -> dict[str, str]:
        env = {**os.environ, "KUBECONFIG": str(kubeconfig), "HELM_NO_PLUGINS": "1"}
        # Keeps a simulation's files out of the user's own caches, and out of the working directory if HOME is not set.
        env["KUBECACHEDIR"] = str(kubeconfig.parent / "kube")
        for variable in ("HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"):
            env[variable] = str(kubeconfig.parent / "helm")
        env.setdefault("GOGC", GO_COLLECTION)
        if self._options.path is not None:
            env["PATH"] = self._options.path
        for variable in ("HELM_NAMESPACE", "HELM_KUBECONTEXT", "HELM_KUBEAPISERVER", "HELM_KUBETOKEN"):
            env.pop(variable, None)
        return env


def _message(stderr: str) -> str:
    lines = [
        line for line in stderr.strip().splitlines() if not line.startswith(("WARNING:", "walk.go:", "coalesce.go:"))
    ]
    return "\n".join(lines)[-4000:].removeprefix("Error: ") or "helm failed without a message"
