"""Execution of workflows on a simulated stack, to their end or only until their Pods have nodes."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from physical_ai.catalog.osmo import CONTROL_NAMESPACE
from physical_ai.catalog.osmo_service import GATEWAY
from workbench.cli.console import err
from workbench.cli.exit_codes import FINDINGS
from workbench.cli.output.lint import print_findings
from workbench.cli.simulated_stack import running_cluster
from workbench.cli.workflows.simulated import deployed_context, simulated_workflow, status_after_exit

if TYPE_CHECKING:
    from simulator.entra import Principal
    from simulator.osmo import Result, Service, TaskResult
    from simulator.osmo.control.user import User
    from simulator.osmo.history import History
    from simulator.simulation import Simulation
    from workbench.osmo.lint import Checked, Context
    from workbench.osmo.workflow.rendering import Variables
    from workbench.osmo.workflow.submission import Submission

PLACEMENT_SECONDS = 60.0
"""Maximum real seconds to wait until a Pod has a node; the simulated autoscaler adds a node within a few seconds."""
AGENT_SECONDS = 1.0
"""Real seconds between two questions to the gateway about OSMO's agents."""
NOT_FOLLOWED = (
    "{id} waits for OSMO's agents, and this command follows it no further: {waits} Without its worker a backend creates"
    " and deletes no Pod, without its listener OSMO learns nothing of them; the workflow remains {status}. The cause:"
    " physai doctor"
)


def run_files(
    simulation: Simulation,
    files: Mapping[Path, Path],
    pool: str | None,
    variables: Variables,
    principal: Principal | None = None,
) -> list[dict[str, Any]]:
    """Submits workflow files to the OSMO of a simulated stack, one after the other. Returns the result of each workflow
    as data.

    A file that OSMO would refuse ends the command before any workflow runs.

    Args:
        files: Workflow files, each with the folder that must contain it, even if the file is a symbolic link.
        principal: User who submits the workflows; None for the simulation's deployer.
    """
    from simulator.osmo.history import History

    context = deployed_context(simulation, pool, variables)
    service, history = _service(simulation), History(simulation.folder)
    accepted = [(path, _accepted(path, within, context)) for path, within in files.items()]
    user = user_at(simulation, principal)
    _remove_interrupted(service, history, context, _Agents(user_at(simulation), context.pool))
    return [_run(path, submission, service, history, context, user=user) for path, submission in accepted]


def placements(
    simulation: Simulation, checked: Sequence[Checked], pool: str | None, variables: Variables
) -> dict[str, list[dict[str, Any]]]:
    """The nodes that Pods would get in the simulated cluster, by workflow file. Files with errors are left out."""
    for each in checked:
        if _has_errors(each):
            err.print(f"{each.file} has errors; its Pods are not created in the simulated cluster", markup=False)
    context = deployed_context(simulation, pool, variables)
    service = _service(simulation)
    found: dict[str, list[dict[str, Any]]] = {}
    for each in checked:
        if each.submission is None or _has_errors(each):
            continue
        err.print(f"{each.file}: waiting for nodes, up to {PLACEMENT_SECONDS:.0f} s", markup=False, style="dim")
        # The process id makes the number different from that of any other running command.
        workflow = simulated_workflow(each.submission, context, os.getpid())
        result: Result = service.place(workflow, PLACEMENT_SECONDS, _ignore)
        found[each.file] = [task.document() for task in result.tasks.values()]
    return found


def _run(
    path: Path, submission: Submission, service: Service, history: History, context: Context, *, user: User
) -> dict[str, Any]:
    """Runs one workflow to its end, and returns the result as data. If the run is interrupted, the workflow is deleted
    from the cluster, and recorded as canceled.

    Raises:
        Refused: the user may not submit the workflow, or OSMO accepts none now.
    """
    from simulator.interrupts import as_interrupts
    from simulator.osmo.history import CANCELED
    from workbench.osmo.workflow import lifecycle

    roles = user.submit(context.pool, path.read_text(encoding="utf-8"))
    submitted = {"user": user.principal.name, "roles": list(roles)}
    number = history.begin(submission.spec.name, str(path), submitted)
    workflow, agents = simulated_workflow(submission, context, number), _Agents(user, context.pool)
    err.print(f"{workflow.id}: {path}, submitted by {user.principal.name} ({', '.join(roles)})", markup=False)
    try:
        with as_interrupts():
            result = service.run(workflow, status_after_exit(submission, context), _TaskProgress(), agents)
    except BaseException:
        left = "worker" in agents.last
        history.end(workflow.id, CANCELED, [], left=left)
        err.print(f"{workflow.id} was canceled{'' if left else ' and deleted'}", markup=False)
        raise
    status = lifecycle.workflow_status(list(result.groups.values()))
    if result.waits:
        err.print(NOT_FOLLOWED.format(id=workflow.id, waits=result.waits, status=status), markup=False, style="red")
    tasks = [task.document() for task in result.tasks.values()]
    return history.end(workflow.id, status, tasks, left=result.left)


class _Agents:
    """Function that returns the missing agents of a pool's backend, with the reason for each. It asks the gateway again
    only after AGENT_SECONDS.
    """

    def __init__(self, user: User, pool: str) -> None:
        self._user, self._pool, self._asked = user, pool, 0.0
        self.last: dict[str, str] = {}

    def __call__(self) -> dict[str, str]:
        if time.monotonic() - self._asked > AGENT_SECONDS:
            self._asked, self.last = time.monotonic(), self._user.missing(self._pool)
        return self.last


def _remove_interrupted(service: Service, history: History, context: Context, agents: _Agents) -> None:
    """Deletes the objects of workflows that earlier commands have left in the cluster, because the command was killed
    or OSMO had no agent for the deletion.
    """
    from simulator.osmo.history import CANCELED

    for id in history.cut_off() if "worker" not in agents() else []:
        err.print(f"{id} was interrupted; deleting what it left in the cluster", markup=False)
        service.sweep(id, context.config.namespace)
        history.end(id, CANCELED, [])


def _accepted(path: Path, within: Path, context: Context) -> Submission:
    """The submission in a file. Ends the command if OSMO would refuse the file."""
    from workbench.osmo.lint import check_files

    (checked,) = check_files({path: within}, context, complete=True)
    if _has_errors(checked) or checked.submission is None:
        print_findings([checked], context, listed=True)
        err.print(f"{path} has errors; no workflow was submitted", markup=False, style="red")
        raise typer.Exit(FINDINGS)
    return checked.submission


def _has_errors(checked: Checked) -> bool:
    return any(finding.is_error for finding in checked.findings)


def _service(simulation: Simulation) -> Service:
    from simulator.osmo import Service

    cluster = running_cluster(simulation)
    assert cluster is not None  # `running_simulation` refuses any other
    return Service(simulation.clusters().client(cluster))


def user_at(simulation: Simulation, principal: Principal | None = None) -> User:
    """The principal as a user of the gateway of a running simulated stack; the simulation's deployer if `principal` is
    None.
    """
    from simulator.azure.inbound import dropped
    from simulator.azure.store import Store
    from simulator.entra import DEPLOYER
    from simulator.osmo.control.user import User
    from simulator.subscription import AZURE_FILE

    cluster = running_cluster(simulation)
    assert cluster is not None
    clusters = simulation.clusters()
    service = clusters.client(cluster).find(f"/api/v1/namespaces/{CONTROL_NAMESPACE}/services/{GATEWAY}")
    reason = dropped(Store(simulation.folder / AZURE_FILE).resources.values(), service)
    return User(clusters.osmo(cluster), simulation.folder, principal or DEPLOYER, reason)


def _ignore(task: TaskResult) -> None:
    del task


class _TaskProgress:
    """Reporter that prints a task's status when it changes. A reason for waiting is printed only once, even if the
    numbers in the scheduler's message change.
    """

    def __init__(self) -> None:
        self._last: dict[str, tuple[str, str, bool]] = {}

    def __call__(self, task: TaskResult) -> None:
        now = (task.status, task.node, bool(task.message))
        if self._last.get(task.name) == now:
            return
        self._last[task.name] = now
        node = f" on {task.node}" if task.node else ""
        message = f": {task.message}" if task.message else ""
        err.print(f"  {task.name} ({task.platform}) {task.status}{node}{message}", markup=False, style="dim")
