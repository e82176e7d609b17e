"""The `run` command, and what `lint --simulate` does: workflows taken to the simulated cluster of a stack."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from physical_ai.cli.commands.lint import (
    FINDINGS,
    PoolOption,
    SetEnv,
    SetOption,
    SetString,
    read_text,
    tell,
    workflow_files,
)
from physical_ai.cli.console import err, out, print_json
from physical_ai.cli.options import DEFAULT_STACK, Json

if TYPE_CHECKING:
    from physical_ai.osmo.lint import Checked, Context
    from physical_ai.osmo.submission import Submission
    from physical_ai.simulator.osmo import Result, Service, TaskResult, Workflow
    from physical_ai.simulator.osmo.history import History
    from physical_ai.simulator.simulation import Simulation

COMPLETED = "COMPLETED"
PLACE_SECONDS = 60.0
"""How long to wait for a node: the autoscaler's model brings one within a few seconds."""

Workflows = Annotated[list[Path], typer.Argument(metavar="FILES…", help="Workflow files, or folders of them.")]
StackOption = Annotated[str, typer.Option("--stack", help="The simulated stack to run it on.")]


def run(  # noqa: PLR0917 - each is an option
    files: Workflows,
    stack: StackOption = DEFAULT_STACK,
    pool: PoolOption = None,
    set_: SetOption = None,
    set_string: SetString = None,
    set_env: SetEnv = None,
    json: Json = False,
) -> None:
    """Run OSMO workflows on a simulated stack, one after the other, and follow them to their end.

    A stand-in takes OSMO's place; scheduling, admission and quotas are the cluster's own. Programs are not run: a task
    succeeds, unless the GPU on its node, or the driver's part in its container, would have failed it.
    """
    from physical_ai.osmo.rendering import Variables

    variables = Variables(set_ or (), set_string or (), set_env or ())
    documents = run_files(running_stack(stack), workflow_files(files), pool, variables)
    if json:
        print_json({"stack": stack, "workflows": documents})
    else:
        out.print(render(documents))
    if any(document["status"] != COMPLETED for document in documents):
        raise typer.Exit(1)


def run_files(
    simulation: Simulation, files: Sequence[Path], pool: str | None = None, variables: Any = None
) -> list[dict[str, Any]]:
    """Runs workflow files on a simulated stack; what became of each. A file that OSMO would refuse ends the command."""
    from physical_ai.simulator.osmo.history import History

    context = deployed_context(simulation, pool, variables)
    service, history = _service(simulation), History(simulation.folder)
    checked = [_accepted(path, context) for path in files]
    _clear(service, history, context)
    return [_run(path, submission, service, history, context) for path, submission in checked]


def _run(path: Path, submission: Submission, service: Service, history: History, context: Context) -> dict[str, Any]:
    """One workflow to its end; what became of it. An interrupt takes it out of the cluster, and is told."""
    from physical_ai.osmo import lifecycle
    from physical_ai.simulator.interrupts import as_interrupts
    from physical_ai.simulator.osmo.history import CANCELED

    number = history.begin(submission.spec.name, str(path))
    workflow = workflow_of(submission, context, number)
    err.print(f"{workflow.id}: {path}", markup=False)
    told = _Told()
    try:
        with as_interrupts():
            result = service.run(workflow, _exits(submission, context), told)
    except BaseException:
        history.end(workflow.id, CANCELED, [])
        err.print(f"{workflow.id} was taken back", markup=False)
        raise
    status = lifecycle.workflow_status(list(result.groups.values()))
    return history.end(workflow.id, status, [task.document() for task in result.tasks.values()])


def _clear(service: Service, history: History, context: Context) -> None:
    """Removes what killed commands have left in the cluster."""
    from physical_ai.simulator.osmo.history import CANCELED

    for id in history.cut_off():
        err.print(f"{id} was cut off; what it left in the cluster is removed", markup=False)
        service.sweep(id, context.config.namespace)
        history.end(id, CANCELED, [])


def placements(
    simulation: Simulation, checked: Sequence[Checked], pool: str | None, variables: Any
) -> dict[str, list[dict[str, Any]]]:
    """Where the Pods of each file would go in the simulated cluster, by file; those without findings only."""
    context = deployed_context(simulation, pool, variables)
    service = _service(simulation)
    found: dict[str, list[dict[str, Any]]] = {}
    for one in checked:
        if one.submission is None:
            continue
        err.print(f"{one.file}: asks for nodes, for {PLACE_SECONDS:.0f} s at most", markup=False, style="dim")
        # A number that no run of another command has.
        workflow = workflow_of(one.submission, context, os.getpid())
        result: Result = service.place(workflow, PLACE_SECONDS, _silent)
        found[one.file] = [task.document() for task in result.tasks.values()]
    return found


def deployed_context(simulation: Simulation, pool: str | None, variables: Any) -> Context:
    """What the service of a deployed stack knows: the values that the stack exports for it.

    Raises:
        SimulationError: no deployment came far enough to export any.
    """
    from physical_ai.osmo.lint import of_chart_values
    from physical_ai.osmo.rendering import Variables
    from physical_ai.simulator.errors import SimulationError

    exported: Mapping[str, Any] = simulation.outputs().get("osmo") or {}
    if "serviceValues" not in exported:
        raise SimulationError(f"{simulation.stack} exports no configuration for OSMO; run `physai up` again")
    context = of_chart_values(exported["serviceValues"], simulation.stack, pool, variables or Variables())
    if context.pool not in context.config.pool_names:
        known = ", ".join(context.config.pool_names)
        raise typer.BadParameter(f"{context.name} has no OSMO pool '{context.pool}', but: {known}", param_hint="--pool")
    return context


def workflow_of(submission: Submission, context: Context, number: int) -> Workflow:
    """What the service keeps of a submission: its groups with their objects, and what they wait for."""
    from physical_ai.osmo import lifecycle
    from physical_ai.osmo.backend import queues
    from physical_ai.osmo.objects import invented_run, make_all
    from physical_ai.osmo.schema import upstream
    from physical_ai.simulator.osmo import Group, Task, Workflow

    config, run_ = context.config, invented_run(submission, number=number)
    made = {each.group: each for each in make_all(submission, config, run_)}
    home = {task.name: group.name for group in submission.groups for task in group.tasks}
    groups: list[Group] = []
    for group in submission.groups:
        needs = {home[task] for task in map(upstream, group.inputs) if task is not None} - {group.name}
        pods = {task.name: pod for task, pod in zip(group.tasks, made[group.name].pods, strict=True)}
        tasks = tuple(
            Task(
                task.name,
                pods[task.name]["metadata"]["name"],
                task.resources.platform or "",
                task.resources.gpu or 0,
                task.lead,
            )
            for task in group.tasks
        )
        for task in group.tasks:
            _mark(pods[task.name], task.image)
        groups.append(Group(group.name, tasks, tuple(made[group.name].objects), tuple(sorted(needs))))
    pools = [config.pool(name) for name in config.pool_names]
    running, waiting = lifecycle.timeouts(submission.spec.timeout, submission.pool, config.workflow)
    return Workflow(
        id=run_.workflow_id,
        namespace=config.namespace,
        groups=tuple(groups),
        queues=tuple(queues(config.namespace, pools)),
        queue_seconds=waiting.total_seconds(),
        exec_seconds=running.total_seconds(),
        retries=config.workflow.max_retry_per_task,
    )


def _mark(pod: dict[str, Any], image: str) -> None:
    """Tells the simulated node what the program would ask of its GPU."""
    from physical_ai.osmo.lint.images import isaac
    from physical_ai.osmo.names import image as parsed
    from physical_ai.simulator.cluster.names import RUNS
    from physical_ai.simulator.osmo.programs import VULKAN

    if isaac(parsed(image)) is not None:
        pod["metadata"].setdefault("annotations", {})[RUNS] = VULKAN


def _exits(submission: Submission, context: Context) -> Any:
    """What exit actions make of a task's end."""
    from physical_ai.osmo import lifecycle

    actions = {task.name: task.exitActions for group in submission.groups for task in group.tasks}

    def after(task: str, code: int, status: str, retries: int) -> str:
        return lifecycle.after_exit(
            code,
            status,
            task_actions=actions[task],
            pool_actions=submission.pool.default_exit_actions,
            retries=retries,
            max_retries=context.config.workflow.max_retry_per_task,
        )

    return after


def _accepted(path: Path, context: Context) -> tuple[Path, Submission]:
    from physical_ai.osmo.lint import check_text

    checked = check_text(read_text(path), str(path), context, path.parent)
    errors = [finding for finding in checked.findings if finding.severity == "error"]
    if errors or checked.submission is None:
        tell([checked], context, listed=True)
        err.print(f"{path} was not submitted, nor was any file after it", markup=False, style="red")
        raise typer.Exit(FINDINGS)
    return path, checked.submission


def running_stack(stack: str) -> Simulation:
    from physical_ai.cli.commands.simulate import simulation_of
    from physical_ai.simulator.errors import SimulationError

    simulation = simulation_of(stack)
    clusters = simulation.clusters() if simulation.exists else None
    if clusters is None or not any(clusters.is_running(id) for id in clusters.ids()):
        raise SimulationError(f"{stack} has no simulated cluster that runs; `physai up {stack}` makes one")
    return simulation


def _service(simulation: Simulation) -> Service:
    from physical_ai.simulator.osmo import Service

    clusters = simulation.clusters()
    cluster = next(id for id in clusters.ids() if clusters.is_running(id))
    return Service(clusters.client(cluster))


def _silent(task: TaskResult) -> None:
    del task


class _Told:
    """Says what a task does when that changes; why it waits once, though the scheduler's counts change all the time."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[str, str, bool]] = {}

    def __call__(self, task: TaskResult) -> None:
        now = (task.status, task.node, bool(task.message))
        if self._last.get(task.name) == now:
            return
        self._last[task.name] = now
        where = f" on {task.node}" if task.node else ""
        words = f": {task.message}" if task.message else ""
        err.print(f"  {task.name} ({task.platform}) {task.status}{where}{words}", markup=False, style="dim")


def render(documents: Sequence[Mapping[str, Any]]) -> Table:
    """Workflows and their tasks, a line each."""
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 1, 0, 0))
    for column in ("workflow", "task", "platform", "GPUs", "node", "status"):
        table.add_column(column, no_wrap=True)
    for document in documents:
        name = document["id"]
        for task in document["tasks"]:
            gpus = str(task["gpus"]) if task["gpus"] else ""
            style = "green" if task["status"] == COMPLETED else "red"
            status = Text(task["status"], style=style)
            table.add_row(name, task["name"], task["platform"], gpus, task["node"] or "", status)
            name = ""
    return table
