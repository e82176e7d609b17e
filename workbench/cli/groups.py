"""Groups of the commands by purpose, in the order of the help."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup


class UnknownCommand(Exception):
    """Error for a command name that does not exist."""

    def __init__(self, name: str, known: list[str]) -> None:
        super().__init__(name)
        self.name, self.known = name, known


class CommandGroup(TyperGroup):
    """Command group whose help lists the commands panel by panel, with subgroups among the other commands."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Names of the commands in the order of the panels. Typer by itself would put subgroups last."""
        names = super().list_commands(ctx)
        return sorted(names, key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            raise UnknownCommand(args[0], list(self.commands))
        return super().resolve_command(ctx, args)


PANELS = {
    "Inspect": {
        "stacks": "Compare all stacks: pools, cost, own settings",
        "explain": "Show a stack's settings and the file of each value",
        "cost": "Estimate the cost per pool, hour and month",
        "time": "Estimate how long a first deployment takes",
        "usage": "Show the GPU-hours that workflows used",
        "goodput": "Estimate the useful share of GPU time, and what would raise it",
        "sizes": "List VM sizes, their GPUs and prices",
        "regions": "List regions, and where a stack's pools could run",
        "status": "Show the simulated stack: nodes, GPUs, workflows",
    },
    "Change": {
        "stack": "Write the files of a new stack: stack new NAME",
        "preview": "Show what `up` would change",
        "up": "Deploy a stack to the simulator on this machine",
        "refresh": "Record differences of the resources in state",
        "down": "Destroy the simulated stack",
        "cancel": "Stop a run, or remove the lock of a killed run",
        "unstick": "Repair what a killed run left behind, with prompts",
        "node": "Repair a GPU node step by step: node replace NODE",
        "move": "Move a pool's work to a pool with other settings",
        "roll": "Upgrade a pool's drivers in place, node by node",
    },
    "Check": {
        "policy": "Check a stack's resources against the policies",
        "reach": "Show who reaches whom, and what decides it",
        "compat": "Check that a stack's versions are compatible",
        "check": "Query Azure: quota, sizes, versions, permissions",
        "first": "Bring a stack to a new subscription in stages",
        "obtain": "Compare a pool with its fallbacks: quota, price",
        "gates": "Show why nodes do not offer their GPUs",
        "accept": "Run acceptance checks on GPU nodes",
        "why": "Explain why a pod, workflow, node or pool fails",
        "doctor": "List everything that does not work in the cluster",
        "evidence": "Show the records of a GPU node; report it to Azure",
        "record": "Record a cluster in a file that can be given away",
        "compare": "Compare a recording with the simulated stack",
        "pr-preview": "Preview a pull request on each affected stack",
    },
    "Observe": {
        "alerts": "List the alerts of the simulated stack, with advice",
        "dashboards": "Draw the stack's dashboards from simulated metrics",
        "fault": "Inject faults into simulated GPU nodes: fault list",
    },
    "Workflows": {
        "lint": "Check OSMO workflow files; --simulate places them",
        "run": "Run OSMO workflows on the simulated stack",
        "osmo": "Show OSMO's platforms, and values for its chart",
    },
    "Cluster and setup": {
        "init": "Write a team's own repository: init DIR",
        "upgrade": "Upgrade it to another version of the platform",
        "env": "Print variables for kubectl and pulumi",
        "tools": "Install the engine and control-plane programs",
        "charts": "List or download the pinned Helm charts",
        "docs": "Print a page of the documentation: docs osmo",
        "schema": "Write JSON schemas of stack files for editors",
        "bootstrap": "Print the setup script for pipelines",
    },
}
"""Commands by their panel in the help, each with a description for a line of 80 columns."""
ORDER = [name for commands in PANELS.values() for name in commands]


def listing(name: str) -> dict[str, Any]:
    """Name, short help and panel of a command, as options of `Typer.command` and `Typer.add_typer`."""
    panel = next(panel for panel, commands in PANELS.items() if name in commands)
    return {"name": name, "short_help": PANELS[panel][name], "rich_help_panel": panel}


def with_values_named(command: Any, parent: Any = None) -> Any:
    """The command `command` with value names in its help, equal to those of the reference page: each option gets the
    name of its value, except a flag, which has no value.
    """
    context = typer.Context(command, parent=parent, help_option_names=["-h", "--help"])
    for parameter in command.get_params(context):
        if parameter.metavar is None:
            parameter.metavar = "" if getattr(parameter, "is_flag", False) else value_name(parameter)
    for each in getattr(command, "commands", {}).values():
        with_values_named(each, context)
    return command


def value_name(parameter: Any) -> str:
    """Name of the value of an option or argument in help and messages, such as `STACK`."""
    many = parameter.param_type_name == "argument" and parameter.nargs == -1
    return parameter.metavar or f"{parameter.name.strip('_').upper()}{'…' if many else ''}"
