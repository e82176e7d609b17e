"""Loading of a stack: reads its files, merges them, and validates the result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any

from physical_ai.planning.plan import make_plan
from physical_ai.repository import HAS_PROJECT, NO_PROJECT, NO_PROJECT_FIX, PROJECT_FILE, VALUES
from physical_ai.settings.facts.created import creates_cluster
from physical_ai.settings.faults import Fault, SettingsError, fault
from physical_ai.settings.layers.document import plain
from physical_ai.settings.layers.former_names import with_present_names
from physical_ai.settings.layers.merge import Layer, Merged, merge
from physical_ai.settings.layers.names import STACKS, StackName, existing, profile_files, stack_label
from physical_ai.settings.layers.overlay import Overlay, read_file
from physical_ai.settings.layers.profile import PROFILE, chosen, without_profile
from physical_ai.settings.layers.region_layer import environments_values
from physical_ai.settings.layers.stack_file import PREFIX, SECRETS, read_stack
from physical_ai.settings.loaded import Loaded
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.pinned_program import pin_faults
from physical_ai.settings.served import load_backend_stacks
from physical_ai.settings.target import chosen_kind, faults_of_name, layers_of, without_target
from physical_ai.settings.validate import validate

REFERENCE = "The stack is the example that comes with the platform."
"""Sentence in the warning about a stack that is loaded without a project."""


def load(stack: str, overlays: Sequence[Overlay] = (), root: FilePath = STACKS, values: FilePath = VALUES) -> Loaded:
    """Loads a stack: its settings from the files under `root` and the overlays, and its plan with the values files
    under `values`.

    Raises SettingsError with every fault found. Warnings are not raised, but are part of the result.
    """
    name = StackName.parse(stack)
    layer, faults = read_stack(stack, root)
    return _load(name, layer, faults, overlays, root, values)


def load_settings(stack: str, root: FilePath = STACKS) -> Settings:
    """Settings of a stack from its files under `root`, without its plan.

    Raises SettingsError with every fault found.
    """
    name = StackName.parse(stack)
    layer, faults = read_stack(stack, root)
    return _judge(name, layer, faults, (), root)[0]


def load_config(stack: str, config: Mapping[str, Any], root: FilePath = STACKS, values: FilePath = VALUES) -> Loaded:
    """Loads a stack whose own values come from Pulumi's engine instead of the stack file.

    `config` has the decoded `physical-ai:*` values by key, without the prefix. Raises SettingsError.
    """
    name = StackName.parse(stack)
    faults: list[Fault] = []
    # Pulumi.yaml declares `profile`, so the engine needs a default for it; the empty text means no profile.
    given = {key: value for key, value in config.items() if key != SECRETS and (key, value) != (PROFILE, "")}
    data: Any = plain(given, (), "", faults)
    label = stack_label(stack, root)
    faults = [fault(label, f"{PREFIX}{each.where}", each.problem, each.fix) for each in faults]
    return _load(name, Layer(label, data, PREFIX), faults, (), root, values)


def deployed_to_azure(root: FilePath = STACKS) -> list[str]:
    """Names of the stacks that are deployed to Azure: all stacks except those with `record: true`, which only run in
    the simulator, and those on an existing cluster.

    Raises SettingsError where a stack does not load.
    """
    found = {name: load(name, (), root).settings for name in existing(root)}
    return [name for name, settings in found.items() if not settings.record and creates_cluster(settings)]


def layers_below(stack: str, config: Mapping[str, Any], root: FilePath = STACKS) -> dict[str, FilePath]:
    """Layer files that apply below a stack's profile and its own file, lowest priority first. Keys are the names that
    messages show.

    `config` is the content of the stack's file, valid or not. Raises SettingsError if `stack` is not a valid stack
    name.
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
    if root == STACKS and not HAS_PROJECT:
        faults.append(fault(PROJECT_FILE, "(file)", f"{NO_PROJECT} {REFERENCE}", NO_PROJECT_FIX).as_warning())
    return Loaded(settings, merged, [*faults, *planned.warnings], planned, served)


def _judge(
    name: StackName, stack: Layer, stack_faults: Sequence[Fault], overlays: Sequence[Overlay], root: FilePath
) -> tuple[Settings, Merged, list[Fault]]:
    """Settings from a stack's merged layers, the merged data, and the warnings. Raises SettingsError."""
    faults, other = list(stack_faults), pin_faults(root)
    own = with_present_names(stack, faults)
    above = [own, *(with_present_names(_overlay(overlay, faults), faults) for overlay in overlays)]
    kind = chosen_kind(above)
    faults[:0] = faults_of_name(kind, name, root)
    profile, unknown = chosen(above, root)
    faults += unknown
    files = layers_of(kind, name, root)
    if profile is not None:
        files |= profile_files(profile, root)
    layers: list[Layer] = []
    for label, file in files.items():
        if file.is_file() or file.name == "base.yaml":
            document = read_file(file, label)
            faults += document.faults
            layer = with_present_names(Layer(label, document.data, lines=document.lines), faults)
            layer = without_profile(layer, faults)
            layers.append(without_target(layer, faults))
            if file.parent.name == "region":
                faults += environments_values(layers[-1])
    # Otherwise a missing file would be reported again as many missing settings.
    if unknown or any(fault.where.startswith("(") for fault in faults):
        raise SettingsError([*faults, *other])
    merged = merge([*layers, *above], own)
    outcome = validate(merged, name.environment, name.region)
    faults += outcome.faults
    errors = [fault for fault in faults if fault.is_error]
    if errors or outcome.settings is None:
        raise SettingsError([*errors, *other])
    return outcome.settings, merged, [*faults, *other]


def _overlay(overlay: Overlay, faults: list[Fault]) -> Layer:
    data: Any = plain(overlay.data, (), overlay.label, faults)
    return Layer(overlay.label, data, lines=overlay.lines)
