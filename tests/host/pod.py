"""The agent's pod: its container's processes, from their start to their end."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from pathlib import Path

from tests.host.node import Node


class Pod:
    """One life of the agent's container."""

    count = 0

    def __init__(self, node: Node, options: tuple[str, ...] = ()) -> None:
        Pod.count += 1
        self.node = node
        self.mark = f"GRID_POD={Pod.count}"
        name, value = self.mark.split("=")
        variables = {name: value, "NODE_NAME": node.name, "POD_NAMESPACE": "gpu-operator", "LC_ALL": "C"}
        arguments = [
            "/usr/bin/python3", "-s", "-E", "-m", "grid_agent", "--wanted", "/opt/pod/wanted.json", "--root", "/",
            "--service-account", "/opt/pod/serviceaccount", "--api", "https://127.0.0.1:6443", *options,
        ]  # fmt: skip
        self.log = node.where / f"pod-{Pod.count}.log"
        with self.log.open("wb") as log:
            shell = ["sh", "-c", 'cd /opt/agent && exec "$@"', "sh", *arguments]
            self._process = subprocess.Popen(
                node.up.command(shell, variables), stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
            )

    def said(self) -> str:
        return self.log.read_text(errors="replace")

    def code(self) -> int | None:
        """Exit code, or nothing while it runs."""
        return self._process.poll()

    def end(self, how: signal.Signals = signal.SIGKILL, within: float = 5) -> int:
        """End the pod as a kubelet does: the signal to its first process, then SIGKILL to all that is left of it."""
        if how != signal.SIGKILL:
            for pid in self._first():
                _kill(pid, how)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(within)
        while left := self.node.up.processes(self.mark):
            for pid in left:
                _kill(pid, signal.SIGKILL)
        return self._process.wait(within)

    def gone(self) -> None:
        """Its node went down."""

    def _first(self) -> list[int]:
        """The agent itself: its command line names the module."""
        return [
            pid
            for pid in self.node.up.processes(self.mark)
            if b"grid_agent\0--wanted" in Path(f"/proc/{pid}/cmdline").read_bytes()
        ]


def _kill(pid: int, how: signal.Signals) -> None:
    try:
        os.kill(pid, how)
    except ProcessLookupError:
        return
