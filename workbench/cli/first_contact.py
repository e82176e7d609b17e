"""First contact of a stack: its folder, the processes that run its commands, and estimates of time and cost for its
stages.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, TextIO

from physical_ai.repository import PROJECT
from workbench.cli.state_folder import STATE, StateFolder, folder_of, make_private

if TYPE_CHECKING:
    from physical_ai.settings import Settings
    from workbench.cli.requested_stack import RequestedStack
    from workbench.first_contact.judging import Answer
    from workbench.first_contact.progress import Progress
    from workbench.first_contact.stages import Stage, Subject

Run = Callable[[Sequence[str], Path], "Answer"]
"""Function that runs a command, shows its output, writes the output to a file, and returns exit code and output."""
PAGE, KUBECONFIG = "evidence.md", "kubeconfig"


class Folder(StateFolder):
    """Folder, below the user's folder, with the state and the evidence of one stack's first contact."""

    @classmethod
    def of(cls, stack: str, *, simulated: bool) -> Folder:
        """The folder for a stack."""
        return cls(folder_of("first", stack, simulated=simulated))

    def read(self, stack: str, settings: str, *, simulated: bool) -> Progress:
        """The saved progress; without a state file, a new one. Raises Unreadable."""
        from workbench.first_contact.progress import Progress, Unreadable, parsed

        try:
            return parsed(self.state.read_text(encoding="utf-8"), stack, simulated=simulated)
        except FileNotFoundError:
            return Progress(stack, simulated, settings)
        except UnicodeDecodeError as problem:
            raise Unreadable(str(problem)) from None

    def save(self, progress: Progress) -> None:
        """Writes the state file and the page of evidence. If the process dies meanwhile, the former files remain."""
        from workbench.first_contact.progress import page, text
        from workbench.first_contact.stages import stages

        for name, content in ((STATE, text(progress)), (PAGE, page(progress, stages()))):
            self.keep(name, content)


def digest(settings: Settings) -> str:
    """A digest of the settings, which shows later whether they have changed."""
    from physical_ai.settings import dump

    return hashlib.sha256(json.dumps(dump(settings), sort_keys=True, default=str).encode()).hexdigest()[:16]


def subject(settings: Settings, folder: Folder, *, simulated: bool) -> Subject:
    """Facts about a stack that determine the commands of the stages."""
    from physical_ai.settings.facts.osmo import platforms
    from workbench.first_contact.stages import Subject

    osmo = settings.osmo.installs_service or (settings.osmo.installs_backend and settings.osmo.service_url is not None)
    with_gpus = tuple(each.name for each in platforms(settings) if each.resource) if osmo or simulated else ()
    from_zero = tuple(name for name, pool in settings.pools.items() if pool.scale.min == 0 and pool.scale.initial)
    kubeconfig = str(folder.path / KUBECONFIG)
    empty = tuple(name for name, pool in settings.pools.items() if pool.scale.max and not pool.scale.initial_count)
    return Subject(settings.stack, simulated, str(folder.path), kubeconfig, with_gpus, empty, from_zero)


def run(words: Sequence[str], file: Path) -> Answer:
    """Runs a command in the checkout, and writes what it prints, errors included, to a file. Both are also shown, JSON
    excepted.

    The word `physai` stands for this program.
    """
    from workbench.cli.console import print_text
    from workbench.first_contact.judging import Answer

    program = (sys.executable, "-m", "workbench.cli") if words[0] == "physai" else (words[0],)
    output: list[str] = []
    make_private(file)
    with file.open("a", encoding="utf-8", buffering=1) as kept:
        kept.write(f"$ {' '.join(words)}\n")
        try:
            process = subprocess.Popen(
                [*program, *words[1:]],
                cwd=PROJECT,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                env=os.environ,
            )
        except OSError as problem:
            kept.write(f"{words[0]} cannot be run: {problem.strerror}\n")
            print(f"{words[0]} cannot be run: {problem.strerror}", file=sys.stderr)
            return Answer(127, "")
        assert process.stdout is not None
        assert process.stderr is not None
        errors = Thread(target=_copy, args=(process.stderr, file))
        errors.start()
        with process:
            try:
                for line in process.stdout:
                    output.append(line)
                    kept.write(line)
                    if "--json" not in words:  # JSON output is judged, and only the result is shown
                        print_text(line)
            except KeyboardInterrupt:
                process.wait()  # the terminal has interrupted it too, and an engine ends in its own time
                raise
            finally:
                errors.join()
        kept.write(f"exit code {process.returncode}\n")
    return Answer(process.returncode, "".join(output))


def _copy(errors: TextIO, file: Path) -> None:
    """Shows what a command writes to its standard error, and appends each line to the file of its output. A question
    without an end of line is shown at once.
    """
    with file.open("a", encoding="utf-8", buffering=1) as kept:
        while piece := errors.read(1):
            kept.write(piece)
            sys.stderr.write(piece)
            sys.stderr.flush()


@dataclass(frozen=True)
class Figures:
    """Estimated time and cost of a stack's stages, as `physai time` and `physai cost` give them. Times are
    in minutes.
    """

    deployment: tuple[float, float]
    nodes: tuple[float, float]
    standing: float
    """USD per hour for the nodes without GPUs, at list prices."""
    gpus: float
    """USD per hour for the nodes without GPUs and one node of each GPU pool, at list prices."""
    complete: bool
    """True if every VM size has a price."""

    def minutes(self, stage: Stage) -> tuple[float, float]:
        if stage.minutes == "deployment":
            return self.deployment
        return self.nodes if stage.minutes == "nodes" else stage.minutes

    def hourly(self, stage: Stage) -> float:
        return {"nothing": 0.0, "standing": self.standing, "gpus": self.gpus}[stage.cost]


def figures(requested: RequestedStack) -> Figures:
    """The estimates for a stack. For them the program runs without the Pulumi engine."""
    from physical_ai.catalog.timings import GPU_GATE, timing
    from workbench.cli.deployment_time import deployment_time, document
    from workbench.cli.policy_pack import declared_or_exit
    from workbench.costs import estimate

    settings = requested.loaded.settings
    fast, slow = document(deployment_time(settings.stack, declared_or_exit(requested, preview=False)))["minutes"]
    node = timing("azure-native:containerservice:AgentPool").minutes, timing(GPU_GATE).minutes
    priced = {each.name: each for each in estimate(settings).pools}
    prices = {name: each.price.usd_per_hour if each.price else 0.0 for name, each in priced.items()}
    standing = sum(prices[name] * each.nodes.initial for name, each in priced.items() if name not in settings.pools)
    return Figures(
        (fast, slow),
        (node[0][0] + node[1][0], node[0][1] + node[1][1]),
        standing,
        standing + sum(prices[name] for name in settings.pools),
        all(each.price for each in priced.values()),
    )
