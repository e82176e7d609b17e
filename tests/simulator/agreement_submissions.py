"""Workflows that run without end, submitted to OSMO's service by the command line."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from tests.simulator.physai import COMMAND

PLATFORMS = {"h100gpu": "h100", "rtxprogpu": "rtxpro"}
"""OSMO platform of each pool of the default stack."""
IMAGE = f"registry.example/train@sha256:{'a' * 64}"
SLOW = {"PHYSAI_SECONDS_PER_MODEL_MINUTE": "60"}
"""Variables of the command, in whose clock a workflow would otherwise time out after half an hour."""
CANCEL_SECONDS = 60


def workflow(name: str, tasks: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """A workflow of one group. `tasks`: name and pool of each task; the first one leads."""
    small = {"gpu": 1, "cpu": 1, "memory": "1Gi", "storage": "1Gi"}
    made = [
        {
            "name": task,
            "lead": not index,
            "image": IMAGE,
            "command": ["sleep", "infinity"],
            "environment": {"NVIDIA_DRIVER_CAPABILITIES": "all"},
            "resource": PLATFORMS[pool],
        }
        for index, (task, pool) in enumerate(tasks)
    ]
    return {
        "version": 2,
        "workflow": {
            "name": name,
            "timeout": {"exec_timeout": "3d", "queue_timeout": "2d"},
            "resources": {PLATFORMS[pool]: {"platform": PLATFORMS[pool], **small} for _, pool in tasks},
            "groups": [{"name": "group", "tasks": made}],
        },
    }


class Submissions:
    """Workflows that were submitted, each followed by a process of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._followers: dict[str, subprocess.Popen[bytes]] = {}

    def submit(self, name: str, tasks: Sequence[tuple[str, str]]) -> None:
        file, said = self._folder / f"{name}.yaml", self._folder / f"{name}.txt"
        file.write_text(yaml.safe_dump(workflow(name, tasks), sort_keys=False))
        with said.open("wb") as output:
            self._followers[name] = subprocess.Popen(
                [*COMMAND, "run", str(file)], stdout=output, stderr=output, env={**os.environ, **SLOW}
            )

    def cancel(self, name: str) -> None:
        """Ends the command that follows a workflow, which cancels it."""
        follower = self._followers.pop(name, None)
        if follower is not None and follower.poll() is None:
            follower.send_signal(signal.SIGINT)
            try:
                follower.wait(CANCEL_SECONDS)
            except subprocess.TimeoutExpired:
                follower.kill()
                follower.wait()

    def end(self) -> None:
        for name in list(self._followers):
            self.cancel(name)

    @property
    def said(self) -> str:
        """Last lines of what the commands have printed."""
        return "\n".join(file.read_text()[-1500:] for file in sorted(self._folder.glob("*.txt")))
