"""Loading of the other stacks whose clusters a control plane serves. Such a stack is loaded with the checks that its
own deployment makes.
"""

from __future__ import annotations

from collections.abc import Callable

from physical_ai.settings.facts.osmo_access import control_plane_url
from physical_ai.settings.faults import Fault, SettingsError
from physical_ai.settings.layers.merge import Merged
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.models.tree import Settings

_BACKENDS: Path = ("osmo", "backends")


def load_backend_stacks(
    settings: Settings, merged: Merged, load: Callable[[str], Settings]
) -> tuple[tuple[Settings, ...], list[Fault]]:
    """Settings of the stacks in `osmo.backends`, and the faults that prevent the control plane from serving a stack.

    Args:
        load: Function that loads a stack by name. It raises SettingsError.
    """
    if not settings.osmo.installs_service:
        return (), []
    found: list[Settings] = []
    faults: list[Fault] = []
    claimed = {settings.osmo.backend_name: settings.stack}
    for place, stack in enumerate(settings.osmo.backends):
        setting: Path = (*_BACKENDS, place)
        try:
            served = load(stack)
        except SettingsError as refused:
            first = refused.faults[0]
            problem = f"The stack '{stack}' cannot be served, because it cannot be loaded: {first.problem}"
            faults.append(merged.fault(setting, problem, f"physai explain {stack}"))
            continue
        faults += [merged.fault(setting, problem, fix) for problem, fix in _refusals(settings, served, claimed)]
        claimed.setdefault(served.osmo.backend_name, stack)
        found.append(served)
    return tuple(found), faults


def _refusals(settings: Settings, served: Settings, claimed: dict[str, str]) -> list[tuple[str, str]]:
    """Problems that prevent the control plane from serving a stack, each as a pair: problem, fix."""
    osmo, stack, wanted = served.osmo, served.stack, control_plane_url(settings)
    if not osmo.has_service_elsewhere:
        return [
            (f"The stack '{stack}' has mode {osmo.mode}, so no agents of its cluster would join.", "mode: backend.")
        ]
    problems: list[tuple[str, str]] = []
    if osmo.service_url != wanted:
        problem = f"The agents of '{stack}' work for {osmo.service_url or 'no control plane'}, and not for {wanted}."
        problems.append((problem, f"osmo.serviceUrl: {wanted} in the stack {stack}."))
    if osmo.fetches_token and osmo.token_rotation != settings.osmo.token_rotation:
        word, own = settings.osmo.token_rotation, osmo.token_rotation
        problem = f"The agents of '{stack}' wait for the token of rotation '{own}', and '{word}' would be created."
        problems.append((problem, f"osmo.tokenRotation: '{word}' in the stack {stack}."))
    if osmo.backend_name in claimed:
        problem = f"The stacks {claimed[osmo.backend_name]} and {stack} are both called '{osmo.backend_name}' in OSMO."
        problems.append((problem, f"osmo.backendName: another name in the stack {stack}."))
    return problems
