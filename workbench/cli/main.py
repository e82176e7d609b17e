"""The `physai` command: its subcommands, and the conversion of their errors to messages and exit codes."""

from __future__ import annotations

import gc
import os
import sys
from functools import cache
from typing import Annotated, Any

import typer
from typer.main import get_command

from physical_ai.disk_errors import sentence
from physical_ai.input_errors import InputError, part_error
from workbench.cli.commands import (
    accept,
    bootstrap,
    catalogue,
    charts,
    check,
    compare,
    compat,
    cost,
    docs,
    evidence,
    explain,
    first,
    gates,
    goodput,
    init,
    lint,
    move,
    node,
    obtain,
    operations,
    osmo,
    policy,
    pr_preview,
    preview,
    reach,
    record,
    roll,
    schema,
    simulate,
    stack_new,
    stacks,
    telemetry,
    time,
    unstick,
    upgrade,
    usage,
    why,
)
from workbench.cli.commands import run as run_workflows
from workbench.cli.console import discard_output, err, out, print_json
from workbench.cli.exit_codes import BAD_INPUT, DONE, FAILED, INTERRUPTED, UNREAD
from workbench.cli.groups import CommandGroup, UnknownCommand, listing, with_values_named
from workbench.cli.recorded import fault_in_recording, forget

# No child process uses the engine's connections; without this, gRPC prints a warning for each program that is started.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")

app = typer.Typer(
    name="physai",
    cls=CommandGroup,
    help="GPU platform for physical AI on AKS: describe its stacks, check them, and simulate them on this machine.",
    epilog="Exit codes: 0 done, 1 the operation failed, 2 the input is wrong, 3 findings, 130 interrupted.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_versions(value: bool) -> None:
    if value:
        from workbench.cli.versions import lines

        for line in lines():
            out.print(line, markup=False)
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_versions, is_eager=True, help="Print the versions and exit.")
    ] = False,
) -> None:
    del version  # the option's callback has ended the command if it was given


for name, command in {
    "stacks": stacks.stacks,
    "explain": explain.explain,
    "cost": cost.cost,
    "time": time.time,
    "usage": usage.usage,
    "goodput": goodput.goodput,
    "sizes": catalogue.sizes,
    "regions": catalogue.regions,
    "status": simulate.status,
    "preview": preview.preview,
    "up": simulate.up,
    "refresh": operations.refresh,
    "down": operations.down,
    "cancel": operations.cancel,
    "unstick": unstick.unstick,
    "policy": policy.policy,
    "reach": reach.reach,
    "compat": compat.compat,
    "check": check.check,
    "first": first.first,
    "move": move.move,
    "roll": roll.roll,
    "obtain": obtain.obtain,
    "gates": gates.gates,
    "accept": accept.accept,
    "why": why.why,
    "doctor": why.doctor,
    "evidence": evidence.evidence,
    "record": record.record,
    "compare": compare.compare,
    "pr-preview": pr_preview.pr_preview,
    "lint": lint.lint,
    "run": run_workflows.run,
    "alerts": telemetry.alerts,
    "dashboards": telemetry.dashboards,
    "env": simulate.env,
    "tools": simulate.tools,
    "docs": docs.docs,
    "schema": schema.schema,
    "init": init.init,
    "upgrade": upgrade.upgrade,
    "bootstrap": bootstrap.bootstrap,
}.items():
    app.command(**listing(name))(command)
for name, group in {
    "node": node.app,
    "stack": stack_new.app,
    "osmo": osmo.app,
    "charts": charts.app,
    "fault": telemetry.fault_app,
}.items():
    app.add_typer(group, **listing(name))


def collect_garbage_rarely() -> None:
    """Makes Python's garbage collector run a hundred times less often.

    While the SDKs' thousands of classes are imported, each collection searches all of them: 0.6 s that free nothing.
    """
    gc.set_threshold(100_000, 50, 50)


# Built once in a process, from all options of all commands.
_command = cache(lambda: with_values_named(get_command(app)))


def run(arguments: list[str]) -> int:
    """Runs a command line and returns the exit code. Expected failures are printed as messages, never as tracebacks."""
    try:
        code = _run(arguments)
        sys.stdout.flush()  # a failure to write is raised here, and not when the process ends
    except (BrokenPipeError, SystemExit) as end:
        if isinstance(end, SystemExit) and not end.code:  # Typer's options for completion
            return 0
        discard_output()  # nothing reads stdout any more; Typer and Rich turn this into a SystemExit
        return UNREAD
    except OSError as problem:
        said = sentence(problem)
        if said is None:
            raise
        discard_output()
        err.print(f"physai: {said}", markup=False, style="red", soft_wrap=True)
        return FAILED
    return code


def _run(arguments: list[str]) -> int:
    forget()
    try:
        code = _command()(arguments, prog_name="physai", standalone_mode=False)
    except typer.Abort:
        err.print("canceled; nothing was changed")
        return FAILED
    except Exception as problem:
        failure = _failure(problem, arguments) or _failure_of_recording(problem) or _failure_of_part(problem)
        if failure is None:
            raise
        code, text = failure
        if "--json" in arguments and text:
            print_json({"error": {"exitCode": code, "text": text, "faults": _faults(problem)}})
        return code
    if code == INTERRUPTED:
        err.print("interrupted; run the same command again to continue")
    return code if isinstance(code, int) else DONE


def _failure_of_recording(problem: Exception) -> tuple[int, str] | None:
    said = fault_in_recording(problem)
    if said is None:
        return None
    err.print(said, markup=False, style="red", soft_wrap=True)
    return BAD_INPUT, said


def _failure_of_part(problem: Exception) -> tuple[int, str] | None:
    wrong = part_error(problem)
    return _refused(wrong) if wrong is not None else None


def _refused(problem: InputError) -> tuple[int, str]:
    err.print(str(problem), markup=False)
    count = len(_faults(problem)) or 1
    err.print(f"\n{count} {'error' if count == 1 else 'errors'}; nothing was changed", style="red")
    return BAD_INPUT, str(problem)


def _faults(problem: Exception) -> list[dict[str, Any]]:
    """Faults of the settings that an error lists, as data; empty for any other error."""
    return [fault.document() for fault in getattr(problem, "faults", ())] if isinstance(problem, InputError) else []


def _failure(problem: Exception, arguments: list[str]) -> tuple[int, str] | None:
    """Prints an expected failure, and returns its exit code and text; returns None for a defect of this program."""
    if isinstance(problem, typer.TyperException | UnknownCommand):
        if type(problem).__name__ == "NoArgsIsHelpError":  # private to Typer, which has printed the help
            return BAD_INPUT, ""
        from workbench.cli.usage_errors import called, usage_text

        text = usage_text(problem, *called(_command(), arguments))
        err.print(text, markup=False, style="red")
        return BAD_INPUT, text
    if isinstance(problem, InputError):
        return _refused(problem)

    return _failure_of_command(problem, arguments)


def _failure_of_command(problem: Exception, arguments: list[str]) -> tuple[int, str] | None:
    from workbench.cli.simulator_extra import has_simulator, missing_simulator

    if text := missing_simulator(problem, " ".join(arguments[:1])):
        err.print(text, markup=False, style="red")
        return BAD_INPUT, text
    if not has_simulator():
        return None
    from physical_ai.catalog.chart_archives import ChecksumMismatch
    from simulator.errors import Interrupted, SimulationError, UnknownTarget
    from simulator.tools import BuildFailed
    from workbench.cli.chart_download import PullFailed

    if isinstance(problem, SimulationError | BuildFailed | ChecksumMismatch | PullFailed):
        err.print(str(problem), markup=False, style="red")
        code = BAD_INPUT if isinstance(problem, UnknownTarget) else FAILED
        return INTERRUPTED if isinstance(problem, Interrupted) else code, str(problem)
    return None
