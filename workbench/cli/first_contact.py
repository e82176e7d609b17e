"""First contact of a stack: its folder, its commands as processes, time and cost of what comes next."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from physical_ai.repository import ROOT, user_folder

if TYPE_CHECKING:
    from physical_ai.settings import Settings
    from workbench.cli.requested_stack import RequestedStack
    from workbench.first_contact.judging import Answer
    from workbench.first_contact.progress import Progress
    from workbench.first_contact.stages import Stage, Subject

Run = Callable[[Sequence[str], Path], "Answer"]
"""Runs a command, shows its output, writes it to a file, and returns it."""
STATE, PAGE, KUBECONFIG = "state.json", "evidence.md", "kubeconfig"


class Busy(Exception):
    """Another process is in the first contact of this stack."""


@dataclass(frozen=True)
class Folder:
    """Folder of one stack's first contact, in the user's folder, with state and evidence."""

    path: Path

    @classmethod
    def of(cls, stack: str, *, simulated: bool) -> Folder:
        """Two checkouts never share one."""
        checkout = hashlib.sha256(str(ROOT).encode()).hexdigest()[:8]
        return cls(user_folder() / "first" / f"{checkout}-{stack}{'-simulated' if simulated else ''}")

    @property
    def state(self) -> Path:
        return self.path / STATE

    @contextmanager
    def held(self) -> Generator[None]:
        """Locks the folder, so that only one process uses it; raises Busy if another process has it."""
        self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.path.chmod(0o700)
        with (self.path / "lock").open("a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Busy from None
            yield

    def read(self, stack: str, settings: str, *, simulated: bool) -> Progress:
        """The progress so far. Raises Unreadable."""
        from workbench.first_contact.progress import Progress, Unreadable, parsed

        try:
            return parsed(self.state.read_text(encoding="utf-8"), stack, simulated=simulated)
        except FileNotFoundError:
            return Progress(stack, simulated, settings)
        except (OSError, UnicodeDecodeError) as problem:
            raise Unreadable(str(problem)) from None

    def save(self, progress: Progress) -> None:
        """Writes state and page; a process that dies meanwhile leaves the former ones."""
        from workbench.first_contact.progress import page, text
        from workbench.first_contact.stages import stages

        for name, content in ((STATE, text(progress)), (PAGE, page(progress, stages()))):
            self.keep(name, content)

    def keep(self, name: str, content: str) -> None:
        """Writes a file that nobody else can read; a process that dies meanwhile leaves the former one."""
        new = self.path / f"{name}.new"
        _make_private(new)
        new.write_text(content, encoding="utf-8")
        new.replace(self.path / name)

    def evidence(self, number: int, name: str) -> Path:
        """A new file for the output of one command of a stage."""
        attempt = 1
        while (file := self.path / f"{number:02}-{name}-{attempt}.txt").exists():
            attempt += 1
        return file


def _make_private(file: Path) -> None:
    file.touch(mode=0o600)
    file.chmod(0o600)


def digest(settings: Settings) -> str:
    """A digest of the settings, which tells whether they have changed."""
    from physical_ai.settings import dump

    return hashlib.sha256(json.dumps(dump(settings), sort_keys=True, default=str).encode()).hexdigest()[:16]


def subject(settings: Settings, folder: Folder, *, simulated: bool) -> Subject:
    """The stack as far as the commands depend on it."""
    from physical_ai.settings.facts.osmo import platforms
    from workbench.first_contact.stages import Subject

    osmo = settings.osmo.installs_service or (settings.osmo.installs_backend and settings.osmo.service_url is not None)
    with_gpus = tuple(each.name for each in platforms(settings) if each.resource) if osmo or simulated else ()
    from_zero = tuple(name for name, pool in settings.pools.items() if pool.scale.min == 0 and pool.scale.initial)
    kubeconfig = str(folder.path / KUBECONFIG)
    return Subject(settings.stack, simulated, str(folder.path), kubeconfig, with_gpus, from_zero)


def run(words: Sequence[str], file: Path) -> Answer:
    """Runs a command in the checkout, shows its output unless it is a document, and keeps it. `physai` is this one."""
    from workbench.cli.console import print_text
    from workbench.first_contact.judging import Answer

    own = (sys.executable, "-m", "workbench.cli") if words[0] == "physai" else (words[0],)
    output: list[str] = []
    _make_private(file)
    with file.open("w", encoding="utf-8") as kept:
        kept.write(f"$ {' '.join(words)}\n")
        try:
            process = subprocess.Popen(
                [*own, *words[1:]], cwd=ROOT, stdout=subprocess.PIPE, text=True, errors="replace", env=os.environ
            )
        except OSError as problem:
            kept.write(f"{words[0]} cannot be run: {problem.strerror}\n")
            print(f"{words[0]} cannot be run: {problem.strerror}", file=sys.stderr)
            return Answer(127, "")
        assert process.stdout is not None
        with process:
            try:
                for line in process.stdout:
                    output.append(line)
                    kept.write(line)
                    if "--json" not in words:  # a document is judged, and shown as its result
                        print_text(line)
            except KeyboardInterrupt:
                process.wait()  # the terminal has interrupted it too, and an engine ends in its own time
                raise
        kept.write(f"exit code {process.returncode}\n")
    return Answer(process.returncode, "".join(output))


@dataclass(frozen=True)
class Figures:
    """Time and cost of the stages of one stack: estimates of `physai time` and `physai cost`."""

    deployment: tuple[float, float]
    nodes: tuple[float, float]
    standing: float
    """USD per hour for the nodes without GPUs, at list prices."""
    gpus: float
    """USD per hour with one node of each GPU pool beside them."""
    complete: bool
    """False if a size has no price."""

    def minutes(self, stage: Stage) -> tuple[float, float]:
        if stage.minutes == "deployment":
            return self.deployment
        return self.nodes if stage.minutes == "nodes" else stage.minutes

    def hourly(self, stage: Stage) -> float:
        return {"nothing": 0.0, "standing": self.standing, "gpus": self.gpus}[stage.cost]


def figures(requested: RequestedStack) -> Figures:
    """The figures of a stack; the program runs without an engine for them."""
    from physical_ai.catalog.timings import timing
    from workbench.cli.deployment_time import GATE_TYPE, deployment_time, document
    from workbench.cli.policy_pack import declared_or_exit
    from workbench.costs import estimate

    settings = requested.loaded.settings
    fast, slow = document(deployment_time(settings.stack, declared_or_exit(requested, preview=False)))["minutes"]
    node = timing("azure-native:containerservice:AgentPool").minutes, timing(GATE_TYPE).minutes
    priced = {each.name: each for each in estimate(settings).pools}
    own = {name: each.price.usd_per_hour if each.price else 0.0 for name, each in priced.items()}
    standing = sum(own[name] * each.nodes.initial for name, each in priced.items() if name not in settings.pools)
    return Figures(
        (fast, slow),
        (node[0][0] + node[1][0], node[0][1] + node[1][1]),
        standing,
        standing + sum(own[name] for name in settings.pools),
        all(each.price for each in priced.values()),
    )
