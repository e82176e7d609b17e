"""Conversion of a submitted workflow to the form that the simulator's OSMO runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from workbench.cli.workflows.files import with_known_pool

if TYPE_CHECKING:
    from simulator.osmo import Group, Workflow
    from simulator.simulation import Simulation
    from workbench.osmo.lint import Context
    from workbench.osmo.workflow.rendering import Variables
    from workbench.osmo.workflow.submission import Submission


def deployed_context(simulation: Simulation, pool: str | None, variables: Variables) -> Context:
    """Context of a check of workflows: the OSMO configuration that follows from the settings of the last deployment.

    Raises:
        SimulationError: no deployment has come as far as OSMO, or its settings are no longer valid.
    """
    from physical_ai.planning.osmo_service import chart_values
    from simulator.errors import SimulationError
    from workbench.cli.deployed_settings import settings_of_simulation
    from workbench.osmo.lint import of_chart_values

    deployed = settings_of_simulation(simulation.stack)
    if deployed is None or "osmo" not in simulation.outputs():
        raise SimulationError(f"{simulation.stack} has no configuration for OSMO. Run `physai up` again")
    values = chart_values(deployed.settings, deployed.served)
    return with_known_pool(of_chart_values(values, simulation.stack, pool, variables))


def simulated_workflow(submission: Submission, context: Context, number: int) -> Workflow:
    """The submitted workflow in the simulator's form: its groups with their objects, and for each group the groups that
    it waits for.
    """
    from simulator.osmo import Workflow
    from workbench.osmo.pods.objects import generated_run
    from workbench.osmo.workflow import lifecycle

    config, run = context.config, generated_run(submission, number=number)
    running, waiting = lifecycle.timeouts(submission.spec.timeout, submission.pool, config.workflow)
    return Workflow(
        id=run.workflow_id,
        namespace=config.namespace,
        groups=_groups(submission, context, run),
        queue_seconds=waiting.total_seconds(),
        exec_seconds=running.total_seconds(),
        retries=config.workflow.max_retry_per_task,
    )


def _groups(submission: Submission, context: Context, run: Any) -> tuple[Group, ...]:
    from simulator.osmo import Group, Task
    from workbench.osmo.pods.objects import make_all
    from workbench.osmo.workflow.schema import upstream

    made = {each.group: each for each in make_all(submission, context.config, run)}
    group_of = {task.name: group.name for group in submission.groups for task in group.tasks}
    groups: list[Group] = []
    for group in submission.groups:
        needs = {group_of[task] for task in map(upstream, group.inputs) if task is not None} - {group.name}
        tasks: list[Task] = []
        for task, pod in zip(group.tasks, made[group.name].pods, strict=True):
            resources = task.resources
            name = pod["metadata"]["name"]
            tasks.append(Task(task.name, name, resources.platform or "", resources.gpu or 0, task.lead))
            _annotate(pod, task.image)
        objects, with_any = tuple(made[group.name].objects), not group.ignoreNonleadStatus
        groups.append(Group(group.name, tuple(tasks), objects, tuple(sorted(needs)), with_any))
    return tuple(groups)


def _annotate(pod: dict[str, Any], image: str) -> None:
    """Adds an annotation that tells the simulated node what the task's program requires of its GPU."""
    from simulator.cluster.names import RUNS
    from simulator.osmo.programs import VULKAN
    from workbench.osmo.lint.images import isaac
    from workbench.osmo.names import image as parsed

    if isaac(parsed(image)) is not None:
        pod["metadata"].setdefault("annotations", {})[RUNS] = VULKAN


def status_after_exit(submission: Submission, context: Context) -> Callable[[str, int, str, int], str]:
    """Function `(task, exit code, status, retries)` that returns the status of a task whose program has ended. The
    task's exit actions decide about the status.
    """
    from workbench.osmo.workflow import lifecycle

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
