"""The settings that a cluster was deployed with, for commands that judge its nodes.

A simulated stack keeps the settings of its last update, even if the stack's file has changed since. A real cluster has
no copy: its nodes are compared with the stack's file and the additions on the command line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.cli.console import err

if TYPE_CHECKING:
    from physical_ai.settings import Loaded, Settings

JUDGED = ("pools", "gpuOperator", "gridDriver", "dra", "health")
"""Sections of the settings by which commands judge the nodes of a cluster."""
INSTANCE_TYPE = "node.kubernetes.io/instance-type"
MOST_SHOWN = 5


def deployed_settings(
    stack: str,
    kubeconfig: Path | None,
    files: Sequence[Path] | None = None,
    assignments: Sequence[str] | None = None,
) -> Settings:
    """The settings that a cluster was deployed with. Prints how they differ from the stack's file.

    Raises:
        SettingsError: lists all faults of the stack's file or of the additions on the command line.
    """
    from workbench.cli.loaded_stack import read_loaded

    if kubeconfig is not None or files or assignments:
        return read_loaded(stack, files, assignments).settings
    deployed = settings_of_simulation(stack)
    if deployed is None:
        return read_loaded(stack).settings
    for line in _differences(stack, deployed):
        err.print(line, markup=False, style="yellow")
    return deployed.settings


def settings_of_simulation(stack: str) -> Loaded | None:
    """Settings of a simulation's last deployment; None if nothing was deployed, or the settings are no longer valid."""
    from physical_ai.settings import SettingsError, load_config
    from physical_ai.settings.layers.stack_file import PREFIX
    from simulator.simulation import Simulation

    config = Simulation(stack).deployed_config()
    if not config:
        return None
    try:
        return load_config(stack, {key.removeprefix(PREFIX): value for key, value in config.items()})
    except SettingsError:
        return None


def _differences(stack: str, deployed: Loaded) -> list[str]:
    """Texts about differences between the stack's file and the deployed settings; empty if the file is now invalid."""
    from physical_ai.settings import SettingsError, load
    from physical_ai.settings.compare import differences

    try:
        found = [each.path for each in differences(deployed, load(stack)) if each.path.partition(".")[0] in JUDGED]
    except SettingsError:
        return []
    if not found:
        return []
    more = f" and {len(found) - MOST_SHOWN} more" if len(found) > MOST_SHOWN else ""
    shown = ", ".join(found[:MOST_SHOWN])
    return [f"{stack} was deployed with other settings than its file has now ({shown}{more}); those count here"]


def other_settings(nodes: Iterable[Mapping[str, Any]], settings: Settings) -> list[str]:
    """Lines of text about nodes in Azure whose VM size contradicts the settings: the cluster was then deployed with
    other settings.
    """
    from physical_ai.kubernetes.objects import labels, name
    from physical_ai.readiness.objects import pool_of
    from physical_ai.settings.facts.created import creates_cluster

    if not creates_cluster(settings):
        return []
    found: dict[str, str] = {}
    for each in nodes:
        pool, size = pool_of(each), labels(each).get(INSTANCE_TYPE, "")
        if pool in settings.pools and size and size != settings.pools[pool].sku:
            found.setdefault(
                pool, f"{name(each)} of pool {pool} is a {size}, and the settings say {settings.pools[pool].sku}"
            )
    hint = "the cluster was deployed with other settings: name them with -f FILE or --set"
    return [f"{each}; {hint}" for each in found.values()]
