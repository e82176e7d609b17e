"""Options of the command `move`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from workbench.cli.acceptance_levels import AcceptanceLevel

PoolArgument = Annotated[str, typer.Argument(metavar="POOL", help="The GPU node pool whose work moves.")]
To = Annotated[
    list[str] | None,
    typer.Option(
        "--to", metavar="SETTING=VALUE", help="A setting of the new pool, like sku=… or nodeImage=newest; repeatable."
    ),
]
Name = Annotated[str | None, typer.Option("--name", help="Name of the new pool; by default like the old one's.")]
Within = Annotated[
    str | None, typer.Option("--within", metavar="TIME", help="How long old work may take to end, such as 12h; 3d.")
]
Budget = Annotated[
    float | None,
    typer.Option("--budget", metavar="GPU-HOURS", min=0, help="After --within, end work that loses no more than this."),
]
MaxWait = Annotated[
    str | None, typer.Option("--max-wait", metavar="TIME", help="How long this run waits; the next run goes on.")
]
RestartServices = Annotated[
    bool | None,
    typer.Option("--restart-services/--no-restart-services", help="Start services again on another pool."),
]
Level = Annotated[
    AcceptanceLevel | None, typer.Option("--level", help="Level of acceptance of the new nodes; quick if omitted.")
]
Simulated = Annotated[bool, typer.Option("--simulated", help="Rehearse it in the simulator; no stack file is written.")]
Back = Annotated[bool, typer.Option("--back", help="Go the way back: the work returns, and the new pool is removed.")]
Forward = Annotated[bool, typer.Option("--forward", help="Turn a way back round again.")]
Status = Annotated[bool, typer.Option("--status", help="Show the stages of the move, and change nothing.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the plan, and change nothing.")]
Deployed = Annotated[bool, typer.Option("--deployed", help="Confirm that the written change is deployed.")]
AcceptChanges = Annotated[
    bool, typer.Option("--accept-changes", help="Go on although somebody has changed one of the pools meanwhile.")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not prompt for confirmation.")]
TIME = re.compile(r"(\d{1,6})([smhd])")
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def seconds(text: str | None, option: str) -> float | None:
    """Seconds of a time such as `90m`. Raises typer.BadParameter."""
    if text is None:
        return None
    found = TIME.fullmatch(text)
    if found is None:
        raise typer.BadParameter("write minutes, hours or days, such as 90m, 12h or 2d", param_hint=option)
    return int(found[1]) * UNITS[found[2]]


def check_names(stack: str, pool: str) -> None:
    """Raises SettingsError or typer.BadParameter if a name cannot be that of a stack or a node pool."""
    from physical_ai.settings import StackName
    from workbench.moves.request import NAME

    StackName.parse(stack)
    if not NAME.fullmatch(pool):
        problem = f"'{pool}' is no name of a node pool: 1 to 12 lowercase letters and digits"
        raise typer.BadParameter(problem, param_hint="POOL")


def words_of(files: Sequence[Path] | None, assignments: Sequence[str] | None) -> tuple[str, ...]:
    """The options -f and --set as words of a command line."""
    return (
        *(word for each in files or () for word in ("-f", str(each.resolve()))),
        *(word for each in assignments or () for word in ("--set", each)),
    )
