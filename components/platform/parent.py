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

    Components pass `protect` on to their children. Every such component has the option, although one would stop a
    destroy: the engine continues with the other resources after a refusal, and would drop those that are deleted with
    the cluster from the state without deleting them.
    """
    unprotected: pulumi.ResourceOptions
    """Options of components that a protected stack may delete too, such as gates, and roles, which are withdrawn."""
