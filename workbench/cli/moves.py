"""Interfaces of a move: its folder, the stack's settings, the cluster, and Azure's answers."""

from __future__ import annotations

import datetime
import json
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from physical_ai.nested import at, is_mapping
from physical_ai.repository import PROJECT
from workbench.cli.state_folder import STATE, StateFolder, folder_of

if TYPE_CHECKING:
    from physical_ai.readiness.client import Send
    from physical_ai.settings import Loaded, Settings
    from workbench.moves.emptying import View
    from workbench.moves.layers import State
    from workbench.moves.progress import Outcome, Progress

LAYER, LAST = "change.yaml", "last.json"
PAUSE, SIMULATED_PAUSE = 15.0, 1.0
"""Seconds between two looks at a real and at a simulated cluster."""


class Folder(StateFolder):
    """Folder, below the user's folder, with the progress of a stack's move."""

    @classmethod
    def of(cls, stack: str, *, simulated: bool) -> Folder:
        return cls(folder_of("move", stack, simulated=simulated))

    @property
    def layer(self) -> Path:
        return self.path / LAYER

    def read(self, stack: str, pool: str, *, simulated: bool) -> Progress | None:
        """The progress of the move under way; None if there is none. Raises Unreadable."""
        return self._read(self.state, stack, pool, simulated=simulated)

    def last(self, stack: str, pool: str, *, simulated: bool) -> Progress | None:
        """The progress of the last move that has ended; None if there is none. Raises Unreadable."""
        return self._read(self.path / LAST, stack, pool, simulated=simulated)

    def _read(self, file: Path, stack: str, pool: str, *, simulated: bool) -> Progress | None:
        from workbench.moves.progress import Unreadable, parsed

        try:
            return parsed(file.read_text(encoding="utf-8"), stack, pool, simulated=simulated)
        except FileNotFoundError:
            return None
        except UnicodeDecodeError as problem:
            raise Unreadable(str(problem)) from None

    def save(self, progress: Progress) -> None:
        """Writes the state file. If the process dies meanwhile, the former file remains."""
        from workbench.moves.progress import text

        self.keep(STATE, text(progress))

    def close(self, progress: Progress) -> None:
        """Keeps the progress of a move that has ended apart, so that another move can begin."""
        from workbench.moves.progress import text

        self.keep(LAST, text(progress))
        self.state.unlink(missing_ok=True)


@dataclass(frozen=True)
class World:
    """The stack and the cluster of a move. In a rehearsal both are simulated, and the stack file stays as it is."""

    stack: str
    simulated: bool
    folder: Folder
    kubeconfig: Path | None = None
    context: str | None = None
    extra: tuple[str, ...] = ()
    """Options -f and --set of the stack, as words of a command line."""

    def loaded(self, layer: Mapping[str, Any] | None = None) -> Loaded:
        """Settings of the stack's files with a layer over them. Raises SettingsError."""
        from physical_ai.settings import load
        from workbench.cli.loaded_stack import overlays_of
        from workbench.moves.planning import overlay

        files = [Path(value) for option, value in _pairs(self.extra) if option == "-f"]
        assignments = [value for option, value in _pairs(self.extra) if option == "--set"]
        return load(self.stack, [*overlays_of(files, assignments), *([overlay(layer)] if layer else [])])

    @property
    def label(self) -> str:
        """Name of the stack file in messages."""
        from physical_ai.settings import STACKS
        from physical_ai.settings.layers.names import stack_label

        return stack_label(self.stack, STACKS)

    def stack_text(self) -> str:
        return _stack_file(self.stack).read_text(encoding="utf-8")

    def write_stack(self, text: str) -> None:
        """Writes the stack file. If the process dies meanwhile, the former file remains."""
        file = _stack_file(self.stack)
        new = file.with_name(f".{file.name}.new")
        new.write_text(text, encoding="utf-8")
        new.replace(file)

    @cached_property
    def send(self) -> Send:
        from workbench.cli.cluster_gates import changing_access

        return changing_access(self.stack, self.kubeconfig, self.loaded().settings, self.context)[1]

    @cached_property
    def platform(self) -> frozenset[str]:
        """Namespaces whose Pods are not work."""
        from physical_ai.catalog.osmo import WORKFLOWS_NAMESPACE
        from physical_ai.catalog.system_namespaces import SYSTEM_NAMESPACES
        from physical_ai.planning import namespaces

        loaded = self.loaded()
        created = namespaces.created(loaded.settings, loaded.plan)
        return frozenset({*SYSTEM_NAMESPACES, *created} - {WORKFLOWS_NAMESPACE})

    def items(self, path: str) -> list[dict[str, Any]]:
        return list(self.send("GET", path, {}).get("items") or [])

    def view(self, pool: str) -> View:
        from workbench.moves.emptying import view_of

        return view_of(self.items("/api/v1/pods"), self.items("/api/v1/nodes"), pool, self.platform)

    def outputs(self) -> Mapping[str, Any] | None:
        """Outputs of the stack's last deployment; None if they cannot be read."""
        if self.simulated:
            from simulator.simulation import Simulation

            return Simulation(self.stack).outputs()
        try:
            answer = subprocess.run(
                ["pulumi", "stack", "output", "--json", "--stack", self.stack],
                cwd=PROJECT,
                capture_output=True,
                text=True,
                check=False,
            )
            found: Any = json.loads(answer.stdout) if answer.returncode == 0 else None
        except (OSError, ValueError):
            return None
        return found if is_mapping(found) else None

    def has_deployed(self, progress: Progress, state: State) -> bool | None:
        """True if the stack's last deployment had the settings of `state`; None if its outputs cannot be read."""
        from workbench.moves.layers import platforms_in, pools_in

        outputs = self.outputs()
        if outputs is None or "pools" not in outputs:
            return None
        there, gone = pools_in(progress.move, state)
        pools: Mapping[str, Any] = outputs["pools"]
        platforms: Mapping[str, Any] = at(outputs, "osmo.platforms", {})
        right = all(platforms.get(name, pool) == pool for name, pool in platforms_in(progress.move, state).items())
        return there <= set(pools) and not gone & set(pools) and right

    def physai(self, *words: str) -> tuple[int, str]:
        """Runs a command of this program for the stack. Returns its exit code and its standard output."""
        from workbench.cli.first_contact import run

        number = 1 + sum(1 for _ in self.folder.path.glob("*.txt"))
        answer = run(("physai", *words), self.folder.evidence(number, words[0]))
        return answer.code, answer.output

    def capacity(self, settings: Settings) -> tuple[Mapping[str, Any] | None, Mapping[str, Any] | None]:
        """Azure's quotas and VM sizes in the stack's region; None without an answer."""
        from workbench.cli.azure_login import azure_of_login
        from workbench.preflight import Unanswered

        if self.simulated:
            from workbench.cli.simulated_capacity import simulated_capacity

            simulated = simulated_capacity(self.stack)
            return simulated.usages(settings.region), simulated.sizes(settings.region)
        reached, _ = azure_of_login(None)
        if reached is None:
            return None, None
        try:
            return reached.azure.usages(settings.region), reached.azure.sizes(settings.region)
        except Unanswered:
            return None, None


@dataclass(frozen=True)
class Run:
    """One run of the command.

    Attributes:
        max_wait: Seconds after which the run stops waiting; None for no limit of its own.
        deployed: True if the user confirms that the last written change is deployed.
    """

    world: World
    max_wait: float | None = None
    deployed: bool = False
    sleep: Callable[[float], None] = time.sleep
    now: Callable[[], datetime.datetime] = lambda: datetime.datetime.now(datetime.UTC)

    @property
    def pause(self) -> float:
        return SIMULATED_PAUSE if self.world.simulated else PAUSE


@dataclass(frozen=True)
class Result:
    outcome: Outcome
    remarks: tuple[str, ...] = ()


def _stack_file(stack: str) -> Path:
    from physical_ai.settings import STACKS

    return STACKS / f"Pulumi.{stack}.yaml"


def _pairs(words: Sequence[str]) -> list[tuple[str, str]]:
    return list(zip(words[::2], words[1::2], strict=True))
