"""The agent's pod: its container's processes, from their start to their end."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from itertools import count

import psutil

from tests.host.node import Node
from tests.support.waiting import until

API = "http://127.0.0.1:6443"


class Pod:
    """One life of the agent's container.

    `in_container`: through the container's first process (`host/entry.sh`) in a mount namespace of its own, where the
    agent's files, settings and token are; otherwise the agent alone, in the host's mount namespace.
    """

    counter = count(1)

    def __init__(self, node: Node, options: tuple[str, ...] = (), *, in_container: bool = False) -> None:
        number = next(Pod.counter)
        self.node = node
        self.mark = f"GRID_POD={number}"
        variables = {"GRID_POD": str(number), "NODE_NAME": node.name, "POD_NAMESPACE": "gpu-operator", "LC_ALL": "C"}
        if in_container:
            variables |= {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": "6443"}
            arguments = ["unshare", "--mount", "sh", "-ec", CONTAINER, "sh", *options]
        else:
            arguments = [
                "sh", "-c", 'cd /opt/agent && exec "$@"', "sh",
                "/usr/bin/python3", "-s", "-E", "-m", "grid_agent", "--wanted", "/opt/pod/wanted.json", "--root", "/",
                "--service-account", "/opt/pod/serviceaccount", "--api", API, *options,
            ]  # fmt: skip
        self.log = node.where / f"pod-{number}.log"
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                node.up.command(arguments, variables), stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
            )

    def said(self) -> str:
        return self.log.read_text(errors="replace")

    def code(self) -> int | None:
        """Exit code, or nothing while it runs."""
        return self._process.poll()

    def end(self, how: signal.Signals = signal.SIGKILL, within: float = 60) -> int:
        """End the pod as a kubelet does: the signal to its first process, then SIGKILL to all that is left of it."""
        until(
            lambda: self._first() or self.code() is not None,
            "the container has no first process",
            every=0.01,
        )
        all_of_it = self._processes()
        if how != signal.SIGKILL:
            for pid in self._first():
                _kill(pid, how)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(within)

        def dead() -> bool:
            left = all_of_it | self._processes()
            all_of_it.clear()
            for pid in left:
                _kill(pid, signal.SIGKILL)
            return not left and self.code() is not None

        until(dead, "something of the pod is left", every=0.01)
        return self._process.wait()

    def _processes(self) -> set[int]:
        """What the container's cgroup would hold: not the host's units, they are children of the node's init."""
        found = set(self.node.up.processes(self.mark)) | set(self._first())
        for pid in list(found):
            with contextlib.suppress(psutil.NoSuchProcess):
                found |= {child.pid for child in psutil.Process(pid).children(recursive=True)}
        return found

    def _first(self) -> list[int]:
        """The container's first process: the one below nsenter."""
        with contextlib.suppress(psutil.NoSuchProcess):
            return [child.pid for child in psutil.Process(self._process.pid).children()]
        return []


CONTAINER = """
mount --make-rprivate /
mount -t tmpfs none /tmp
cp -r /opt/agent /opt/pod /tmp/
for folder in /opt /run; do mount -t tmpfs none $folder; done
mkdir -p /etc/grid-driver /opt/grid-driver /run/secrets/kubernetes.io
mount -t tmpfs none /etc/grid-driver
mv /tmp/agent/* /opt/grid-driver
mv /tmp/pod/wanted.json /etc/grid-driver
mv /tmp/pod/serviceaccount /run/secrets/kubernetes.io
exec /bin/bash /opt/grid-driver/host/entry.sh "$@"
"""
"""Makes the container's root, where only the container sees it, and becomes its first process."""


def _kill(pid: int, how: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, how)
