"""The `physai` command: dispatch, and one place where failures become words and exit codes."""

from __future__ import annotations

import os
import sys
from typing import Any

import typer

from physical_ai.cli.commands import (
    bootstrap,
    catalogue,
    charts,
    check,
    compat,
    cost,
    explain,
    gates,
    lint,
    osmo,
    policy,
    pr_preview,
    schema,
    simulate,
    stack_new,
    stacks,
)
from physical_ai.cli.commands import run as run_workflows
from physical_ai.cli.console import err, print_json
from physical_ai.cli.exit_codes import BAD_INPUT, DONE, FAILED, INTERRUPTED

# The engine's connections are never used in a child of ours; without this gRPC says so at each program that is started.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")

app = typer.Typer(
    name="physai",
    help="GPU platform for physical AI on AKS: explain its stacks, and run them whole on this machine.",
    epilog="Exit codes: 0 done, 1 the operation failed, 2 the input is wrong, 3 findings.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (simulate.up, simulate.preview, simulate.down, simulate.status, simulate.env, simulate.tools):
    app.command()(command)
app.command()(explain.explain)
app.command()(catalogue.sizes)
app.command()(catalogue.regions)
app.command()(compat.compat)
app.command()(policy.policy)
app.command()(check.check)
app.command()(pr_preview.pr_preview)
app.command()(bootstrap.bootstrap)
app.command()(cost.cost)
app.command()(stacks.stacks)
app.command()(schema.schema)
app.command()(gates.gates)
app.command()(lint.lint)
app.command()(run_workflows.run)
app.add_typer(charts.app, name="charts")
app.add_typer(osmo.app, name="osmo")
app.add_typer(stack_new.app, name="stack")


def main() -> None:
    """Runs the command line; every expected failure ends in a message and a code, never in a traceback."""
    raise SystemExit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    try:
        app(arguments)
    except SystemExit as ending:  # how Typer ends, also after a wrong option, which it explains itself
        return ending.code if isinstance(ending.code, int) else DONE
    except KeyboardInterrupt:
        err.print("interrupted; the same command goes on from here")
        return INTERRUPTED
    except Exception as problem:
        code = _explained(problem)
        if code is None:
            raise
        if "--json" in arguments:
            print_json({"error": {"exitCode": code, "text": str(problem), "faults": _faults(problem)}})
        return code
    return DONE


def _faults(problem: Exception) -> list[dict[str, Any]]:
    """What is wrong in the settings, as data; empty for any other failure."""
    from physical_ai.settings import SettingsError

    if not isinstance(problem, SettingsError):
        return []
    return [fault.document() for fault in problem.faults]


def _explained(problem: Exception) -> int | None:
    """The exit code of an expected failure, told in its own words; None for a fault of ours."""
    from physical_ai.settings import SettingsError

    if isinstance(problem, SettingsError):
        err.print(str(problem), markup=False)
        count = len(problem.faults)
        err.print(f"\n{count} {'fault' if count == 1 else 'faults'}; nothing was changed", style="red")
        return BAD_INPUT

    from physical_ai.catalog.charts import ChecksumMismatch
    from physical_ai.cli.chart_download import PullFailed
    from physical_ai.simulator.errors import Interrupted, SimulationError
    from physical_ai.simulator.tools import BuildFailed

    if isinstance(problem, SimulationError | BuildFailed | ChecksumMismatch | PullFailed):
        err.print(str(problem), markup=False, style="red")
        return INTERRUPTED if isinstance(problem, Interrupted) else FAILED
    return None
