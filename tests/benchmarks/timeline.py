"""Runs one operation as `physai` does, and prints as JSON when it reached what: for `bench_up.py`.

    python tests/benchmarks/timeline.py up|preview|down|empty STACK BEGAN

BEGAN is the `time.time()` at which this process was started, so that interpreter and imports count too. `empty` runs
an empty program through the same engine instead: what no operation can be quicker than.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from pathlib import Path

from pulumi.automation.events import EngineEvent

from simulator import engine, program
from simulator.home import Home
from simulator.simulation import Simulation
from simulator.tools import Progress, toolbox
from simulator.wire.host import ProviderHost
from workbench.cli.main import collect_garbage_rarely
from workbench.cli.requested_stack import read_stack
from workbench.cli.stack_status import status_document

PROCESSOR = {"processor: program": resource.RUSAGE_SELF, "processor: engine, helm": resource.RUSAGE_CHILDREN}
"""Marks that hold seconds of processor time; the control plane's own are not among them."""


class Timeline:
    """A `simulator.simulation.Reporter` that writes down when it first heard of each thing."""

    def __init__(self, began: float) -> None:
        self._began = began
        self.marks: dict[str, float] = {}

    def mark(self, name: str) -> None:
        self.marks[name] = time.time() - self._began

    def phase(self, name: str) -> None:
        self.mark(name)

    def tool(self, progress: Progress) -> None:
        """Commands that are being built; the benchmark has seen to it that none are."""

    def note(self, text: str) -> None:
        """Words to the user."""

    def retry(self, why: str) -> None:
        raise RuntimeError(f"not worth measuring: {why}")

    def event(self, event: EngineEvent) -> None:
        if "engine" not in self.marks:
            self.mark("engine")
        began, ended = event.resource_pre_event, event.res_outputs_event
        if began is not None and not began.metadata.type.startswith("pulumi:") and "resources" not in self.marks:
            self.mark("resources")
        if ended is not None and ended.metadata.type.endswith(":ManagedCluster"):
            self.mark("cluster")
        if ended is not None and ended.metadata.type.endswith(":AgentPool"):
            self.mark("pools")
        if event.summary_event is not None:
            self.mark("summary")


def run(operation: str, stack: str, timeline: Timeline) -> None:
    timeline.mark("imports")
    given = read_stack(stack)
    timeline.mark("settings")
    simulation = Simulation(stack)
    if operation == "up":
        simulation.up(given.input, timeline)
        status_document(simulation)
    elif operation == "preview":
        simulation.preview(given.input, timeline)
    else:
        simulation.down(timeline)
    timeline.mark("end")
    for name, who in PROCESSOR.items():
        usage = resource.getrusage(who)
        timeline.marks[name] = usage.ru_utime + usage.ru_stime


def run_empty(stack: str, timeline: Timeline) -> None:
    program.run_program = lambda: None
    tools = toolbox(Home.of_user().tools)
    with tempfile.TemporaryDirectory(prefix="physai-bench-") as folder, ProviderHost() as providers:
        (Path(folder) / "bin").mkdir()
        bare = engine.Engine(Path(folder), stack, tools, Path(folder) / "bin" / "kubelogin")
        bare.configure({"name": "physical-ai"}, {}, {})
        bare.up(providers, timeline.event)  # makes the stack, which is not to be measured
        for name, operation in (("up", bare.up), ("preview", bare.preview), ("down", bare.destroy)):
            before = time.time()
            operation(providers, timeline.event)
            timeline.marks[f"empty {name}"] = time.time() - before


def main() -> None:
    collect_garbage_rarely()
    operation, stack, began = sys.argv[1:]
    timeline = Timeline(float(began))
    if operation == "empty":
        run_empty(stack, timeline)
    else:
        run(operation, stack, timeline)
    print(json.dumps(timeline.marks))


if __name__ == "__main__":
    main()
