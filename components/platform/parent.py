"""The platform as the parent of its components."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi


@dataclass(frozen=True)
class Parent:
    """Name and options that every component of a platform gets."""

    name: str
    """First part of the components' names."""
    protected: pulumi.ResourceOptions
    """Options of components that a protected stack keeps.

    Components pass `protect` on to their children. All components get it: a destroy that is refused for one resource
    continues with the others, and would forget, without deleting them, those deleted with the cluster.
    """
    unprotected: pulumi.ResourceOptions
    """Options of components that a protected stack may delete too, such as gates, and roles, which are withdrawn."""
