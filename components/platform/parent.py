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

    Every such component has these options, and passes `protect` on to its children. A single protected component would
    stop a destroy too, but only after damage: the engine goes on with the unprotected resources, and drops from the
    state those that count as deleted with the cluster, although they still exist.
    """
    unprotected: pulumi.ResourceOptions
    """Options of components that a protected stack may delete too, such as gates and role assignments."""
