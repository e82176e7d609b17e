"""Functions for the tests of a team's project: the names of its stacks, the errors that policies find in a stack, and
the errors in workflow files.
"""

from __future__ import annotations

from pathlib import Path

from physical_ai.repository import PROJECT


def stacks() -> list[str]:
    """Names of the project's stacks, sorted."""
    from physical_ai.settings import existing

    return existing()


def policy_violations(stack: str, *, preview: bool = False) -> list[str]:
    """Texts of the errors that the policies find in the resources that `stack` declares. Needs neither Azure nor an
    engine.

    Args:
        preview: True for a first preview, in which no value that Azure computes is known.

    Raises:
        pulumi.RunError: the program refuses the stack's settings; the text names file, place and fix.
        SettingsError: the same.
    """
    from physical_ai.findings import Severity, any_at_least
    from workbench.cli.policy_pack import declared_resources
    from workbench.cli.requested_stack import read_stack
    from workbench.policies import evaluate

    found = evaluate(declared_resources(read_stack(stack), preview=preview))
    return [str(each) for each in found if any_at_least([each], Severity.ERROR)]


def workflow_errors(folder: str, stack: str | None = None) -> list[str]:
    """Texts of the errors in the OSMO workflow files below a folder of the project, as `physai lint` finds them.

    Args:
        folder: Path relative to the project.
        stack: Stack whose platforms the workflows use; the project's default stack if omitted.
    """
    from physical_ai.findings import Severity, any_at_least
    from workbench.cli.options import DEFAULT_STACK
    from workbench.cli.workflows.files import stack_context, workflow_files
    from workbench.osmo.lint import check_files
    from workbench.osmo.workflow.rendering import Variables

    context = stack_context(stack or DEFAULT_STACK, None, Variables(), [], [])
    checked = check_files(workflow_files([PROJECT / Path(folder)]), context)
    return [f"{one.file}: {each}" for one in checked for each in one.findings if any_at_least([each], Severity.ERROR)]
