"""Options of the command `roll`."""

from __future__ import annotations

from typing import Annotated

import typer

PoolArgument = Annotated[str, typer.Argument(metavar="POOL", help="The GPU node pool whose nodes are upgraded.")]
Within = Annotated[
    str, typer.Option("--within", metavar="TIME", help="How long the work of one node may take to end, such as 12h.")
]
Budget = Annotated[
    float | None,
    typer.Option("--budget", metavar="GPU-HOURS", min=0, help="After --within, end work that loses no more than this."),
]
MaxWait = Annotated[
    str | None, typer.Option("--max-wait", metavar="TIME", help="How long this run waits; the next run goes on.")
]
RestartServices = Annotated[
    bool, typer.Option("--restart-services", help="Start services again on another node, as their budgets allow.")
]
Back = Annotated[bool, typer.Option("--back", help="Leave the nodes whose driver has not changed as they were.")]
Retry = Annotated[bool, typer.Option("--retry", help="Try the node that failed once more.")]
Status = Annotated[bool, typer.Option("--status", help="Show the nodes, and change nothing.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the plan, and change nothing.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not prompt for confirmation.")]
