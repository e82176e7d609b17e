"""Conversion of command-line options to options of the simulator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from simulator.entra import Principal
    from simulator.run_options import RunOptions


def principal_named(name: str) -> Principal:
    """The principal with this name. Raises typer.BadParameter if the simulated tenant has none."""
    from simulator.entra import UnknownPrincipal, principal

    try:
        return principal(name)
    except UnknownPrincipal as problem:
        raise typer.BadParameter(str(problem), param_hint="--as") from None


def run_options(as_: str, targets: list[str] | None, excludes: list[str] | None = None, **given: Any) -> RunOptions:
    """Options of an engine run, from the command line. Raises typer.BadParameter for options that exclude
    each other.
    """
    from simulator.run_options import RunOptions

    if targets and excludes:
        raise typer.BadParameter("use either --target or --exclude", param_hint="--target / --exclude")
    return RunOptions(
        targets=tuple(targets or ()), excludes=tuple(excludes or ()), principal=principal_named(as_), **given
    )
