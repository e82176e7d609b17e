"""The platform as the parent of its components."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi


@dataclass(frozen=True)
class Parent:
    """Name and options that a platform passes to each of its components."""

    name: str
    """First part of the components' names."""
    protected: pulumi.ResourceOptions
    """Options of components that a protected stack keeps.

    Components pass `protect` on to their children. One protected component would be enough to stop a destroy, but every
    component that is kept has the option: after a refusal the engine continues with the other resources, and would drop
    those that are deleted with the cluster from the state without deleting them.
    """
    unprotected: pulumi.ResourceOptions
    """Options of components that a protected stack may delete too, such as gates and role assignments."""
