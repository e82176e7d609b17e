"""Declared resources of a stack, in the form that checks of rights and registrations in Azure read."""

from __future__ import annotations

import io
from collections.abc import Iterable
from contextlib import redirect_stderr
from functools import cache
from typing import TYPE_CHECKING

from workbench.cli.requested_stack import RequestedStack, read_stack
from workbench.preflight.declared import DeclaredResource, ForeignScope, foreign_scopes

if TYPE_CHECKING:
    from workbench.policies import Stack as Declared


def declared_by(requested: RequestedStack) -> list[DeclaredResource]:
    """The resources of a stack, from a run of the program without an engine, which takes about a second.

    Raises pulumi.RunError: the program refused its settings.
    """
    from workbench.cli.policy_pack import declared_resources

    return needs_of(declared_resources(requested, preview=False))


def needs_of(declared: Declared) -> list[DeclaredResource]:
    """The resources that a run of the program has declared, in the form that `workbench.preflight.declared` reads."""
    return [
        DeclaredResource(each.type, each.name, each.inputs, each.options.provider, each.urn)
        for each in declared.resources
    ]


def foreign_of(requested: RequestedStack, own: str) -> list[ForeignScope]:
    """Scopes on which a deployment of the stack needs rights, in other subscriptions than `own`."""
    return foreign_to(declared_by(requested), own)


def foreign_to(declared: Iterable[DeclaredResource], own: str) -> list[ForeignScope]:
    """Scopes on which a deployment of these resources needs rights, in other subscriptions than the stack's own.

    A run without the Pulumi engine uses a placeholder for the subscription's id, which also counts as `own`.
    """
    from workbench.mocks.azure_answers import SUBSCRIPTION

    return foreign_scopes(declared, (SUBSCRIPTION, own))


@cache
def declared_of(stack: str) -> tuple[DeclaredResource, ...]:
    """The resources of a committed stack. Warnings of the program are not shown.

    Raises SettingsError or pulumi.RunError if the stack is not valid.
    """
    with redirect_stderr(io.StringIO()):
        return tuple(declared_by(read_stack(stack)))
