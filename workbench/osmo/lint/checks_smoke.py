"""Check of pod templates and resource validations: a small task is submitted to each platform, without a cluster."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.osmo.lint import rules_config
from workbench.osmo.lint.checks_pod import pod_problems
from workbench.osmo.lint.finding import Path
from workbench.osmo.lint.source import Source
from workbench.osmo.lint.view import TaskView, requests_gpus
from workbench.osmo.pods import objects
from workbench.osmo.refusal import UNEXPECTED_SHAPE, Refusal, crash
from workbench.osmo.service.configuration import Configuration
from workbench.osmo.service.evaluation import failure
from workbench.osmo.service.pools import Platform, Pool
from workbench.osmo.tokens import default_variables, resource_tokens
from workbench.osmo.workflow.schema import DEFAULT_RESOURCE, ResourceSpec, TaskGroupSpec, TaskSpec, WorkflowSpec
from workbench.osmo.workflow.submission import Submission


def check(pool: Pool, config: Configuration, here: Path, source: Source) -> None:
    """Applies OSMO's checks of a submission to a small task for each platform of the pool (no cluster is needed), and
    reports why OSMO would refuse the task. Resource validations that refuse only larger tasks are not found.
    """
    for name, platform in pool.platforms.items():
        task = _task(name, platform)
        for step, problem in _problems(task, platform, pool, config):
            path = (*here, "platforms", name, *step)
            source.add(rules_config.CONFIG_SUBMITS, path, f"a small task on platform '{name}': {problem}")


def _task(platform_name: str, platform: Platform) -> TaskSpec:
    gpus = 1 if requests_gpus(platform.parsed_pod_template) else None
    resource = ResourceSpec(platform=platform_name, cpu=1, memory="4Gi", storage="10Gi", gpu=gpus)
    return TaskSpec(name="smoke", image="image:1", command=["true"], lead=True, resources=resource)


def _problems(task: TaskSpec, platform: Platform, pool: Pool, config: Configuration) -> Iterator[tuple[Path, str]]:
    try:
        variables = default_variables(pool.common_default_variables, platform.default_variables)
        tokens = resource_tokens(task.resources.model_dump(), variables)
        for assertion in platform.parsed_resource_validations:
            if not assertion.is_about_nodes:
                failure(assertion, tokens, task.name)
    except Refusal as refusal:
        yield ("resource_validations",), refusal.message
    except UNEXPECTED_SHAPE as error:
        yield ("resource_validations",), crash(error).message
    spec = WorkflowSpec(name="smoke", tasks=[task], resources={DEFAULT_RESOURCE: task.resources})
    submission = Submission(spec, [TaskGroupSpec(name="smoke-group", tasks=[task])], pool)
    try:
        made = objects.make_all(submission, config, objects.generated_run(submission))
    except Refusal as refusal:
        yield ("override_pod_template",), refusal.message
        return
    name = task.resources.platform or ""
    view = TaskView(task, (), None, task.resources, (), name, platform, None)
    for pod in (pod for group in made for pod in group.pods):
        for _, _, problem in pod_problems(pod, view):
            yield ("override_pod_template",), problem
