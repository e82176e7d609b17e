"""Runs the program and records every resource, with its options and hooks, and the outputs."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import pulumi
import yaml

from physical_ai.nested import is_mapping
from physical_ai.repository import ROOT
from physical_ai.settings import load
from physical_ai.settings.facts.osmo_access import service_secrets
from tests.support.stacks import azure_stacks
from workbench.mocks.azure_answers import DEPLOYER, azure_name
from workbench.mocks.recorder import PROJECT_NAME, Recorder, run_program
from workbench.policies import Resource, Stack

__all__ = ["ROOT", "TODAY", "Recording", "Resource", "record"]

DEPLOYERS = [{"principalId": DEPLOYER, "principalType": "User"}]
"""Deployers for recordings. Committed stack files name none, since those of a real stack are its owner's."""
TODAY = datetime.date(2026, 11, 20)


class HookRecorder(Recorder):
    """Recorder that also records hooks, and the resources that have them."""

    def __init__(self, *, preview: bool) -> None:
        super().__init__(preview=preview)
        self.hooks: dict[str, pulumi.ErrorHook] = {}
        self.hooked: dict[str, tuple[str, ...]] = {}
        self.resource_hooks: dict[str, pulumi.ResourceHook] = {}
        self.guarded: dict[str, tuple[str, ...]] = {}

    def keep(self, urn: str, request: Any) -> None:
        super().keep(urn, request)
        self.hooked[urn] = tuple(request.hooks.on_error)
        self.guarded[urn] = (*request.hooks.before_create, *request.hooks.before_update)

    def register_error_hook(self, hook: pulumi.ErrorHook) -> None:
        self.hooks[hook.name] = hook

    def register_resource_hook(self, hook: pulumi.ResourceHook) -> None:
        self.resource_hooks[hook.name] = hook


@dataclass(frozen=True)
class Recording:
    """Resources that one run of the program declared, and its outputs."""

    name: str
    resources: tuple[Resource, ...]
    exports: Mapping[str, Any]
    hooks: Mapping[str, pulumi.ErrorHook] = field(repr=False)
    hooked: Mapping[str, tuple[str, ...]] = field(repr=False)
    """Names of a resource's error hooks, by URN."""
    resource_hooks: Mapping[str, pulumi.ResourceHook] = field(repr=False)
    guarded: Mapping[str, tuple[str, ...]] = field(repr=False)
    """Names of the hooks that run before a resource is created or updated, by URN."""

    def of_type(self, kind: str) -> list[Resource]:
        """Resources whose type's last part is `kind`, by name."""
        return [each for each in self.resources if each.type.rpartition(":")[2] == kind]

    def resource(self, kind: str, name: str) -> Resource:
        """The one resource of `kind` whose logical name, or name in Azure or Kubernetes, is `name`."""
        found = [each for each in self.of_type(kind) if name in (each.name, azure_name(each.type, each.inputs))]
        assert len(found) == 1, f"{len(found)} resources of type {kind} are called {name!r}"
        return found[0]

    @property
    def stack(self) -> Stack:
        """The recording in the form that policies read."""
        environment, _, region = self.name.partition("-")
        return Stack(environment, self.resources, region=region)


@cache
def stack_config(stack: str) -> dict[str, Any]:
    """Settings under `config:` of a committed stack file, without the project prefix, with deployers and with secrets,
    which committed files do not have.
    """
    document: dict[str, Any] = yaml.safe_load((ROOT / "stacks" / f"Pulumi.{stack}.yaml").read_text()) or {}
    deployers = {f"{PROJECT_NAME}:access": {"deployers": DEPLOYERS}} if stack in azure_stacks() else {}
    config: dict[str, Any] = {**deployers, **(document.get("config") or {})}
    own = {key.removeprefix(f"{PROJECT_NAME}:"): value for key, value in config.items()}
    needed = [name for _, name in service_secrets(load(stack).settings)]
    return {**own, "secrets": {name: f"{name} of the test" for name in needed}} if needed else own


def merged(lower: Any, upper: Any) -> Any:
    """`upper` merged into `lower`: maps are merged at any depth, everything else is replaced. A null stays, since the
    program reads it.
    """
    if not is_mapping(lower) or not is_mapping(upper):
        return upper
    return {**lower, **{key: merged(lower.get(key), value) for key, value in upper.items()}}


def record(
    stack: str,
    overrides: Mapping[str, Any] | None = None,
    *,
    preview: bool = False,
    simulated: bool = True,
    today: datetime.date = TODAY,
) -> Recording:
    """Runs `__main__` as the engine would, with `overrides` over the stack file, and records it.

    With `simulated`, the program runs as the simulator runs it, without Azure. `today` is the day for which it judges
    versions.

    Raises:
        pulumi.RunError: the program refused its settings.
        AssertionError: it declared one resource twice.
    """
    recorder = HookRecorder(preview=preview)
    config = merged(stack_config(stack), overrides or {})
    run_program(recorder, stack, config, simulated=simulated, today=today)
    return Recording(
        stack,
        recorder.declared_resources,
        recorder.exports,
        recorder.hooks,
        recorder.hooked,
        recorder.resource_hooks,
        recorder.guarded,
    )
