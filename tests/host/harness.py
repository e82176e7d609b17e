"""A node, an API server, a mirror and the agent, put together for one test."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import stat
import subprocess
import tempfile
import time
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.host.cluster import TOKEN, Cluster
from tests.host.installers import NEW, OLD, Installer
from tests.host.mirror import Mirror
from tests.host.namespaces import scratch
from tests.host.node import Node
from tests.host.operator import PREFIX, Operator, all_on
from tests.host.pod import Pod
from tests.host.servers import certificate
from tests.support.waiting import LIMIT, remains, until

SOURCE = Path(__file__).parents[2] / "agents/grid_driver"
HOME = "/var/lib/physical-ai/grid-driver"
CONDITION = "GridDriverReady"
PAUSED = "paused-for-grid-driver"
QUICK: dict[str, float] = {
    "pollSeconds": 0.12,
    "watchSeconds": 0.1,
    "checkSeconds": 0.1,
    "commandSeconds": 3,
    "apiSeconds": 1,
    "fetchSeconds": 20,
    "removeSeconds": 20,
    "installSeconds": 20,
    "aptLockSeconds": 1,
    "stallSeconds": 0.5,
    "licenceSeconds": 0.3,
    "podsSeconds": 0.5,
    "kickSeconds": 0.3,
    "retrySeconds": 0.05,
    "retryMaxSeconds": 0.2,
    "checksumAttempts": 2,
    "installAttempts": 2,
    "unloadAttempts": 3,
    "verifyAttempts": 2,
}
"""Seconds and attempts for tests: what takes minutes on a node takes tenths here."""


@cache
def compiled() -> Path:
    """A copy of the agent with bytecode, made once: nodes would compile it again at each start."""
    folder = Path(tempfile.mkdtemp(prefix="grid-agent-", dir=scratch()))
    shutil.copytree(SOURCE, folder / "agent", ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run(["/usr/bin/python3", "-m", "compileall", "-q", str(folder / "agent")], check=False)
    return folder / "agent"


class Harness:
    """What a test arranges, starts and looks at."""

    def __init__(self) -> None:
        self.node = Node()
        self.cluster = Cluster(
            self.node.network,
            self.node.name,
            {"physical-ai/gpu-driver": "grid", f"{PREFIX}driver": "false", **all_on()},
        )
        self.mirror = Mirror(self.node.network)
        self.new, self.old = Installer(NEW), Installer(OLD)
        for installer in (self.new, self.old):
            self.mirror.files[installer.name] = installer.content
        self.trusted = {self.new.sha256, self.old.sha256}
        """Checksums that were asked for at some time."""
        self.wanted: dict[str, Any] = {}
        self.want()
        self.pods: list[Pod] = []
        self.unlock: Callable[[], None] = lambda: None
        """Of a lock that a fault holds."""
        self.mend_later: Callable[[Harness], None] | None = None
        """What a fault does once the agent is under way."""
        self._operator: Operator | None = None
        for folder in ("agent", "pod/serviceaccount"):
            (self.node.where / "upper/opt" / folder).mkdir(parents=True)
        shutil.copytree(compiled(), self.node.where / "upper/opt/agent", dirs_exist_ok=True, copy_function=os.link)
        self.node.write("/opt/pod/serviceaccount/token", TOKEN)
        self.node.write("/opt/pod/serviceaccount/ca.crt", certificate()[0])
        self._write_wanted()
        self._history: list[tuple[float, bool]] = []
        """(time, whether the gate was closed while the condition did not say that something is going on)."""
        self.cluster.on_change.append(self._note)

    def _note(self) -> None:
        self._history.append((time.monotonic(), bool(self.gated) and self.status[0] != "False"))

    def want(self, installer: Installer | None = None, **changes: Any) -> None:
        """Settings of the stack: a driver, and whatever differs from the defaults. Reaches a running agent."""
        installer = installer or self.new
        timings = {**QUICK, **changes.pop("timings", {})}
        self.wanted = {
            **self.wanted,
            "version": installer.version,
            "sha256": installer.sha256,
            "urls": [self.mirror.url(installer.name)],
            "timings": timings,
            **changes,
        }
        self.trusted.add(installer.sha256)
        if hasattr(self, "pods"):
            self._write_wanted()

    def _write_wanted(self) -> None:
        self.write_settings(self.wanted)

    def write_settings(self, document: object) -> None:
        """Put this into wanted.json."""
        # A ConfigMap's files change by a rename: a reader sees the old one or the new one.
        self.node.write("/opt/pod/.wanted.json", json.dumps(document))
        self.node.path("/opt/pod/.wanted.json").rename(self.node.path("/opt/pod/wanted.json"))

    # -- time goes by

    def begin(self, *options: str) -> Pod:
        """Boot, bring up what is around the node, start the agent."""
        self.boot()
        return self.start(*options)

    def boot(self) -> None:
        self.node.boot()
        self.cluster.start(self.node.where)
        self.mirror.start()
        self._operator = Operator(self.cluster, self.node)
        self._operator.follow()

    @property
    def operator(self) -> Operator:
        """The operator, once the node is up."""
        if not self._operator:
            raise RuntimeError("the node is off")
        return self._operator

    def start(self, *options: str, in_container: bool = False) -> Pod:
        pod = Pod(self.node, options, in_container=in_container)
        self.pods.append(pod)
        return pod

    def reboot(self, **hardware: str) -> Pod:
        """The node goes down without a word and comes up; the kubelet starts what was there."""
        self.node.off()
        self.node.hardware(**hardware)
        self.node.boot()
        self.operator.booted()
        return self.start()

    def try_again(self) -> None:
        """What the documentation says to do after a stop."""
        with self.cluster.lock:
            self.cluster.node["metadata"]["annotations"]["physical-ai/grid-driver-retry"] = str(time.time())
            self.cluster.touch()

    def close(self) -> None:
        self.mirror.stop()
        self.node.remove()
        self.cluster.stop()

    # -- what a person would look at

    @property
    def status(self) -> tuple[str, str, str]:
        """(status, reason, message) of the node's condition."""
        condition = self.cluster.condition(CONDITION) or {}
        return condition.get("status", ""), condition.get("reason", ""), condition.get("message", "")

    @property
    def memory(self) -> dict[str, Any]:
        return json.loads(self.node.read(f"{HOME}/memory.json") or "{}")

    @property
    def gated(self) -> list[str]:
        """Operands that the agent holds off the node."""
        return sorted(
            key.removeprefix(PREFIX)
            for key, value in self.cluster.labels.items()
            if key.startswith(PREFIX) and value == PAUSED
        )

    def ready(self) -> bool:
        """Verified, reported as such, gate open."""
        return self.status[0] == "True" and not self.gated

    def get(self, path: str, port: int = 9401) -> tuple[int, str]:
        """What the agent's own page answers."""
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LIMIT)
        connection.sock = self.node.network.connect(port)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def stuck(self) -> bool:
        """Stopped until a person acts."""
        return self.memory.get("state") == "blocked" and self.status[0] == "False"

    def wait(self, what: str, true: Callable[[], Any]) -> None:
        """Wait for a condition; when it does not come about, report the state instead."""
        until(true, f"not yet: {what}", state=self.state_report, every=0.02)

    def wait_ready(self) -> None:
        self.wait("the driver is verified and the gate open", self.ready)

    def state_report(self) -> str:
        """Everything that helps to understand a failed test."""
        memory = self.memory
        logs = sorted(self.node.path(f"{HOME}/logs").glob("*")) if self.node.path(f"{HOME}/logs").is_dir() else []
        return "\n".join(
            [
                f"condition: {self.status}",
                f"gated: {self.gated}",
                "memory: " + " ".join(str(memory.get(key)) for key in ("state", "sentence", "failures", "upcoming")),
                f"loaded: {self.node.loaded()}  nvidia-smi: {bool(self.node.read('/usr/bin/nvidia-smi'))}",
                f"steps: {self.node.steps()[-40:]}",
                f"requests: {self.cluster.requests[-15:]}",
                f"downloads: {self.mirror.requests[-8:]}",
                f"job: {self.node.read(f'{HOME}/job.json')} {self.node.read(f'{HOME}/result.json')}",
                *(
                    f"--- pod {number}, exit {pod.code()}:\n{pod.said()[-2500:]}"
                    for number, pod in enumerate(self.pods)
                ),
                *(f"--- {log.name}:\n{log.read_text(errors='replace')[-1500:]}" for log in logs[-2:]),
            ]
        )

    # -- what must hold whatever went wrong

    def check_host(self) -> None:
        """No foreign code ran as root, nothing lies where others may write, no driver is half loaded."""
        for version, checksum, path in self.node.executed():
            assert checksum in self.trusted, (
                f"an installer {version} with an unknown checksum was run from {path}\n{self.state_report()}"
            )
            assert path.startswith(HOME), f"an installer was run from {path}"
        self.check_gate()
        assert not (self.node.hw / "intruded").exists(), f"foreign code was run as root\n{self.state_report()}"
        assert not (self.node.hw / "forbidden").exists(), "the agent called reboot or shutdown"
        left = [path for path in self._open_folders() if "grid" in path.lower() or path.endswith(".run")]
        assert not left, f"left in folders where everybody writes: {left}"
        home = self.node.path(HOME)
        if home.exists():
            assert stat.S_IMODE(home.stat().st_mode) == 0o700, f"{HOME} is open to others"

    def check_gate(self, longest: float = 10) -> None:
        """At no time was the gate closed for long without a message in the node's condition."""
        history = [*self._history, (time.monotonic(), False)]
        silent = 0.0
        for (begin, quiet), (end, _) in pairwise(history):
            silent = silent + end - begin if quiet else 0.0
            assert silent < longest, f"the gate was closed for {silent:.1f} s without a message\n{self.state_report()}"

    def check_driver(self) -> None:
        """What is loaded is of one version, and a node that claims to be ready serves that version."""
        versions = {version for name, version in self.node.loaded().items() if name.startswith("nvidia")}
        assert len(versions) <= 1, f"modules of several versions are loaded: {self.node.loaded()}"
        if self.status[0] == "True":
            assert versions, self.state_report()
            assert self.serves(versions.pop()), self.state_report()

    def _open_folders(self) -> list[str]:
        """Files in the node's folders where everybody writes: /tmp and /dev/shm are its own, /var/tmp is overlaid."""
        folders = [self.node.path("/tmp"), self.node.path("/dev/shm"), self.node.where / "upper/var/tmp"]  # noqa: S108
        return [str(path) for folder in folders if folder.is_dir() for path in folder.rglob("*")]

    def serves(self, version: str) -> bool:
        """A complete driver of this version is loaded and answers."""
        if {self.node.loaded().get(name) for name in ("nvidia", "nvidia_uvm", "nvidia_modeset")} != {version}:
            return False
        done = self.node.run("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader")
        return done.returncode == 0 and done.stdout.strip() == version

    def serves_new(self) -> bool:
        """The wanted driver is in service, and said to be."""
        return self.ready() and self.serves(NEW)

    def pause(self, seconds: float, holds: Callable[[], bool], what: str) -> None:
        """A condition remains true for a while; the only wait for nothing to happen."""
        remains(holds, f"no longer: {what}", state=self.state_report, seconds=seconds, every=0.02)
