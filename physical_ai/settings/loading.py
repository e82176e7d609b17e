"""Loads a stack: reads its files, lays them over each other, judges the sum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any

from physical_ai.planning.plan import make_plan
from physical_ai.repository import VALUES
from physical_ai.settings.facts.created import creates_cluster
from physical_ai.settings.faults import Fault, SettingsError, fault
from physical_ai.settings.layers.document import plain
from physical_ai.settings.layers.merge import Layer, Merged, merge
from physical_ai.settings.layers.names import STACKS, StackName, existing, profile_file, stack_label
from physical_ai.settings.layers.overlay import Overlay, read_file
from physical_ai.settings.layers.profile import PROFILE, chosen, without_profile
from physical_ai.settings.layers.stack_file import PREFIX, SECRETS, read_stack
from physical_ai.settings.loaded import Loaded
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.served import load_backend_stacks
from physical_ai.settings.target import chosen_kind, faults_of_name, layers_of, without_target
from physical_ai.settings.validate import validate


def load(stack: str, overlays: Sequence[Overlay] = (), root: FilePath = STACKS, values: FilePath = VALUES) -> Loaded:
    """The settings of a stack, from the files under `root` and the overlays above them, and what is installed by them
    with the files under `values`.

    Raises SettingsError with every fault found. Warnings don't raise; they are part of the result.
    """
    name = StackName.parse(stack)
    layer, faults = read_stack(stack, root)
    return _load(name, layer, faults, overlays, root, values)


def load_settings(stack: str, root: FilePath = STACKS) -> Settings:
    """The settings of a stack as its files have them, without what is installed by them.

    Raises SettingsError with every fault found in the files under `root`.
    """
    name = StackName.parse(stack)
    layer, faults = read_stack(stack, root)
    return _judge(name, layer, faults, (), root)[0]


def load_config(stack: str, config: Mapping[str, Any], root: FilePath = STACKS, values: FilePath = VALUES) -> Loaded:
    """The settings of a stack whose own values come from Pulumi's engine instead of the stack file.

    `config` has the decoded `physical-ai:*` values by key without the prefix. Raises SettingsError.
    """
    name = StackName.parse(stack)
    faults: list[Fault] = []
    # Pulumi.yaml declares `profile`, so the engine needs a default for it; its empty text means none.
    given = {key: value for key, value in config.items() if key != SECRETS and (key, value) != (PROFILE, "")}
    data: Any = plain(given, (), "", faults)
    label = stack_label(stack, root)
    faults = [fault(label, f"{PREFIX}{each.where}", each.problem, each.fix) for each in faults]
    return _load(name, Layer(label, data, PREFIX), faults, (), root, values)


def deployed_to_azure(root: FilePath = STACKS) -> list[str]:
    """Names of the stacks that are deployed to Azure: none that records the past, and none on an existing cluster.

    Raises SettingsError where a stack does not load.
    """
    found = {name: load(name, (), root).settings for name in existing(root)}
    return [name for name, settings in found.items() if not settings.record and creates_cluster(settings)]


def layers_below(stack: str, config: Mapping[str, Any], root: FilePath = STACKS) -> dict[str, FilePath]:
    """The files that are laid below a stack's own, without its profile, by how messages call them.

    `config` is what its file has, judged or not. Raises SettingsError where the name is no stack's.
    """
    given = {str(key).removeprefix(PREFIX): value for key, value in config.items()}
    return layers_of(chosen_kind([Layer(stack_label(stack, root), given)]), StackName.parse(stack), root)


def _load(  # noqa: PLR0917 - the source of each part
    name: StackName,
    stack: Layer,
    stack_faults: Sequence[Fault],
    overlays: Sequence[Overlay],
    root: FilePath,
    values: FilePath,
) -> Loaded:
    settings, merged, faults = _judge(name, stack, stack_faults, overlays, root)
    served, refused = load_backend_stacks(settings, merged, lambda stack: load(stack, (), root, values).settings)
    if refused:
        raise SettingsError(refused)
    planned = make_plan(settings, values, served)
    return Loaded(settings, merged, [*faults, *planned.warnings], planned, served)


def _judge(
    name: StackName, stack: Layer, stack_faults: Sequence[Fault], overlays: Sequence[Overlay], root: FilePath
) -> tuple[Settings, Merged, list[Fault]]:
    """The sum of a stack's layers as settings, and the warnings. Raises SettingsError."""
    faults = list(stack_faults)
    above = [stack, *(_overlay(overlay, faults) for overlay in overlays)]
    kind = chosen_kind(above)
    faults[:0] = faults_of_name(kind, name, root)
    profile, unknown = chosen(above, root)
    faults += unknown
    files = layers_of(kind, name, root)
    if profile is not None:
        label, file = profile_file(profile, root)
        files[label] = file
    layers: list[Layer] = []
    for label, file in files.items():
        if file.is_file() or file.name == "base.yaml":
            document = read_file(file, label)
            faults += document.faults
            layer = without_profile(Layer(label, document.data, lines=document.lines), faults)
            layers.append(without_target(layer, faults))
    # A missing file would otherwise be reported again, as many missing settings.
    if unknown or any(fault.where.startswith("(") for fault in faults):
        raise SettingsError(faults)
    merged = merge([*layers, *above], stack)
    outcome = validate(merged, name.environment, name.region)
    faults += outcome.faults
    errors = [fault for fault in faults if fault.is_error]
    if errors or outcome.settings is None:
        raise SettingsError(errors)
    return outcome.settings, merged, faults


def _overlay(overlay: Overlay, faults: list[Fault]) -> Layer:
    data: Any = plain(overlay.data, (), overlay.label, faults)
    return Layer(overlay.label, data, lines=overlay.lines)
