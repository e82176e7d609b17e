"""etcd, kube-apiserver, controller manager, scheduler and KWOK for one simulated cluster.

All files of a cluster are in one folder: stopping the cluster keeps its state, removing the folder removes the cluster.
"""

from __future__ import annotations

import json
import os
import shutil
import ssl
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import httpx
from filelock import FileLock

from physical_ai.repository import python_environment
from simulator import processes
from simulator.control_plane import kubeconfig
from simulator.control_plane.certificates import Authority
from simulator.control_plane.clients import ATTEMPTS, PROGRAMS, SCHEDULER, keep_running
from simulator.control_plane.last_words import last_words
from simulator.control_plane.servers import ETCD_ARGUMENTS, api_server_arguments
from simulator.errors import ControlPlaneFailed
from simulator.kubernetes.client import READY, SERVING
from simulator.loaded_code import has_changed
from simulator.metrics.port_file import METRICS_FILE
from simulator.ports import kept_port, noted
from simulator.tools import Toolbox

CONTROLLERS = "simulator.controllers"
CLIENTS = (CONTROLLERS, *PROGRAMS)
COMMANDS = ("etcd", "kube-apiserver", *CLIENTS)
SLOTS_FILE = "clusters.json"
"""File next to the folders of control planes: cluster id → name of its folder."""
CAUGHT_UP = "controllers.caught-up"
"""File that the simulator's own controllers create after their first round. Until then, a new cluster lacks objects
such as storage classes, and a restarted cluster still shows drivers on hosts that have none now.
"""
CODE = "controllers.code"
"""File in which the controllers note the modules that they have loaded."""
START_SECONDS = 180.0
"""Longest time in seconds for a control plane to start. An idle machine needs four seconds, a busy one a minute. If a
process ends, the start fails at once.
"""
START_POLL_SECONDS = 0.1


class ControlPlane:
    """One cluster's control plane in `folder`."""

    def __init__(self, folder: Path, tools: Toolbox, tokens: Path) -> None:
        """`tokens`: file of bearer tokens that the API server accepts (`token,user,uid,"group,…"` in each line)."""
        self.folder, self._tools, self._tokens = folder, tools, tokens
        self._pki = folder / "pki"

    @property
    def server(self) -> str:
        """The API server's address, `https://127.0.0.1:PORT`."""
        return f"https://127.0.0.1:{json.loads((self.folder / 'port.json').read_text())}"

    @property
    def metrics(self) -> str:
        """Address of the cluster's metrics exporters: `127.0.0.1:PORT`; empty before the first start."""
        file = self.folder / METRICS_FILE
        return f"127.0.0.1:{json.loads(file.read_text())}" if file.exists() else ""

    def admin_kubeconfig(self) -> str:
        """Kubeconfig with the simulator's own access; no other account is an administrator by default."""
        return kubeconfig.with_certificate(self.server, self._pki, "admin")

    def user_kubeconfig(self, resource_group: str, cluster: str) -> str:
        return kubeconfig.for_cluster_user(self.server, self._pki, resource_group, cluster)

    def is_running(self) -> bool:
        return set(COMMANDS) <= set(processes.running(self.folder)) and self._ready()

    def start(self) -> None:
        """Starts the control plane with its kept state; does nothing if it is running.

        A lock lets only one process start it: with the plain `pulumi` each provider has a process, and all of them need
        the control plane.

        Raises:
            ControlPlaneFailed: a process ended or was not ready in time. Nothing runs then.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        self.folder.chmod(0o700)  # also a folder that another command has created
        with FileLock(self.folder.with_suffix(".lock")):
            try:
                self._start_what_is_stopped()
            except ControlPlaneFailed:
                processes.kill(self.folder)  # an API server without its etcd ends only when it is killed
                raise

    def _start_what_is_stopped(self) -> None:
        is_new = not (self._pki / "done").exists()
        if not self.is_running():
            self.stop()  # processes that a crash has left
            if is_new:
                self._make_pki()
            self._choose_port()
            self._start_etcd_and_api_server()
            self._start_controllers()
            self._wait_until_it_answers(SERVING)
            self._forget_leases()
            self._write_client_files()
            begun = time.monotonic()
            for name in PROGRAMS:
                self._start_client(name)
            self._wait_until_it_answers(READY)
            self._keep_clients(time.monotonic() - begun)
        if not is_new:
            self._wait_for((CONTROLLERS,), "had not read the cluster", (self.folder / CAUGHT_UP).exists)

    def renew(self) -> None:
        """Stops a running control plane if its controllers have loaded other code than the checkout has now, as after
        an update.

        The control plane's state is kept. As after a restart of the machine, the nodes' hosts are empty until the
        simulated software has filled them again.
        """
        if not self.folder.exists():
            return
        with FileLock(self.folder.with_suffix(".lock")):
            # Controllers that have not finished their first round may not have written their note yet.
            if (self.folder / CAUGHT_UP).exists() and has_changed(self.folder / CODE):
                self.stop()

    def stop(self) -> None:
        """Ends every process, clients first, since an API server without its etcd hangs."""
        processes.stop(self.folder, CLIENTS, ("kube-apiserver",), ("etcd",))

    def wipe(self) -> None:
        """Ends every process and removes all state."""
        if self.folder.exists():
            processes.kill(self.folder)
            shutil.rmtree(self.folder)

    def _make_pki(self) -> None:
        shutil.rmtree(self._pki, ignore_errors=True)
        authority = Authority(self._pki)
        authority.server("kube-apiserver", "10.96.0.1")
        authority.signing_key("service-accounts")
        authority.client("admin", "simulator", "system:masters")
        # Not system:kube-controller-manager's own rights: without per-controller credentials it needs all of them.
        authority.client("kube-controller-manager", "system:kube-controller-manager", "system:masters")
        authority.client("kube-scheduler", "system:kube-scheduler", "system:masters")
        for name, user, group in self._further_logins():
            authority.client(name, user, group)
        (self._pki / "done").touch()

    def _choose_port(self) -> None:
        """Saves the API server's port: the port of the last start, so that kubeconfigs remain valid; a free port at the
        first start, or if another process uses the last port.
        """
        file = self.folder / "port.json"
        file.write_text(json.dumps(kept_port(noted(file))))

    def _start_etcd_and_api_server(self) -> None:
        self._start("etcd", *ETCD_ARGUMENTS)
        port = self.server.rsplit(":", 1)[1]
        self._start("kube-apiserver", *api_server_arguments(port, self._tokens), *self._server_options())

    def _further_logins(self) -> Sequence[tuple[str, str, str]]:
        """Certificate file name, user and group of each additional client; none by default."""
        return ()

    def _server_options(self) -> Sequence[str]:
        """Further options of the API server."""
        return ()

    def _write_client_files(self) -> None:
        for name in ("kube-controller-manager", "kube-scheduler"):
            config = kubeconfig.with_certificate(self.server, self._pki, name)
            _write_private(self._pki / f"{name}.kubeconfig", config)
        (self.folder / "scheduler.json").write_text(json.dumps(SCHEDULER))

    def _start_client(self, name: str) -> None:
        self._start(name, *PROGRAMS[name])

    def _keep_clients(self, waited: float) -> None:
        failed = keep_running(
            tuple(PROGRAMS),
            waited,
            running=lambda: processes.running(self.folder),
            start=self._start_client,
            sleep=time.sleep,
        )
        if failed is not None:
            raise self._failed(failed, f"ended {ATTEMPTS} times although the API server is ready")

    def _start_controllers(self) -> None:
        """Starts the simulator's own controllers, which load their modules while the API server starts."""
        _write_private(self.folder / "admin.kubeconfig", self.admin_kubeconfig())
        for file in (CAUGHT_UP, CODE):
            (self.folder / file).unlink(missing_ok=True)
        arguments = (
            "--kubeconfig=admin.kubeconfig",
            f"--slots={self.folder.parent / SLOTS_FILE}",
            f"--caught-up={CAUGHT_UP}",
            f"--code={CODE}",
            f"--simulation={self._tokens.parent}",
        )
        command = [sys.executable, "-m", CONTROLLERS, *arguments]
        processes.start(CONTROLLERS, command, self.folder, python_environment())

    def _start(self, name: str, *arguments: str) -> None:
        processes.start(name, [self._tools.path(name), *arguments], self.folder)

    def _client(self) -> httpx.Client:
        context = ssl.create_default_context(cafile=str(self._pki / "ca.crt"))
        context.load_cert_chain(self._pki / "admin.crt", self._pki / "admin.key")
        return httpx.Client(base_url=self.server, verify=context, trust_env=False, timeout=5)

    def _ready(self) -> bool:
        try:
            with self._client() as client:
                return _succeeds(client, READY)
        except OSError:
            return False

    def _wait_until_it_answers(self, path: str) -> None:
        with self._client() as client:
            self._wait_for(("etcd", "kube-apiserver"), "was not ready", lambda: _succeeds(client, path))

    def _wait_for(self, needed: tuple[str, ...], late: str, is_done: Callable[[], bool]) -> None:
        """Waits until `is_done`, while the processes in `needed` run; `late` is the end of the error message if it
        takes too long.
        """
        end = time.monotonic() + START_SECONDS
        while not is_done():
            live = processes.running(self.folder)
            for name in needed:
                if name not in live:
                    raise self._failed(name, "ended while the control plane was starting")
            if time.monotonic() > end:
                raise self._failed(needed[-1], f"{late} after {START_SECONDS:.0f} s")
            time.sleep(START_POLL_SECONDS)

    def _failed(self, name: str, what: str) -> ControlPlaneFailed:
        log = self.folder / f"{name}.log"
        lines = log.read_text(errors="replace").splitlines() if log.exists() else []
        return ControlPlaneFailed(f"{name} {what}.\n{last_words(lines, self.folder)}\n  Full log: {log}")

    def _forget_leases(self) -> None:
        """Deletes the node leases: a restarted KWOK would otherwise wait for its predecessor's leases to expire.

        Raises:
            ControlPlaneFailed: The API server does not do it within the time of a start.
        """
        path = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
        try:
            with self._client() as client:
                # A busy machine may need longer than the time for one question about readiness.
                client.delete(path, timeout=START_SECONDS)
        except httpx.HTTPError as problem:
            raise self._failed("kube-apiserver", f"did not delete the leases of nodes ({problem})") from problem


def _succeeds(client: httpx.Client, path: str) -> bool:
    try:
        return client.get(path).is_success
    except (httpx.HTTPError, OSError):
        return False


def _write_private(path: Path, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
