"""The service's configuration as OSMO loads it, with what the loading hides."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

from pydantic import BaseModel, ValidationError

from physical_ai.osmo.refusal import UNEXPECTED_SHAPE, Refusal, as_refusal, crash
from physical_ai.osmo.service.pools import (
    BackendSchedulerSettings,
    Missing,
    Pool,
    read_pool,
    read_scheduler,
    resolve_pool,
)
from physical_ai.osmo.service.sections import DatasetConfig, ServiceSection, WorkflowConfig
from physical_ai.osmo.shapes import a_map

TYPED: dict[str, type[BaseModel]] = {"service": ServiceSection, "workflow": WorkflowConfig, "dataset": DatasetConfig}
"""Sections whose types are checked at load."""
NAMED = (
    "resource_validations",
    "pod_templates",
    "group_templates",
    "backends",
    "backend_tests",
    "pools",
    "roles",
)
"""Sections that have to be maps, whatever is in them."""


@dataclass(frozen=True)
class LoadError:
    """A reason for which the service would not start."""

    section: str
    refusal: Refusal


@dataclass
class Configuration:
    """A configuration that loads: pools resolved, the rest as written."""

    data: dict[str, Any]
    missing: list[Missing]
    namespace: str = "osmo-workflows"
    """Namespace of the workflows' pods, as the backend's agent reports it (`global.backendNamespace`)."""
    _pools: dict[str, Pool] = field(default_factory=dict[str, Pool])

    def pool(self, name: str) -> Pool:
        """A pool as read. Raises Refusal: OSMOUserError for an unknown one."""
        if name not in self._pools:
            found = a_map(self.data.get("pools")).get(name)
            if not isinstance(found, Mapping):
                raise Refusal("OSMOUserError", f"there is no pool '{name}'")
            self._pools[name] = read_pool(name, cast("Mapping[str, Any]", found))
        return self._pools[name]

    @property
    def pool_names(self) -> list[str]:
        return list(a_map(self.data.get("pools")))

    def scheduler(self, backend: str) -> BackendSchedulerSettings:
        """A backend's scheduler. Raises Refusal."""
        found = a_map(self.data.get("backends")).get(backend)
        if not isinstance(found, Mapping):
            raise Refusal("OSMOError", f"there is no backend '{backend}'")
        return read_scheduler(cast("Mapping[str, Any]", found))

    @cached_property
    def workflow(self) -> WorkflowConfig:
        return WorkflowConfig.model_validate(self.data.get("workflow") or {})

    @cached_property
    def service(self) -> ServiceSection:
        return ServiceSection.model_validate(self.data.get("service") or {})


def load_errors(config: Mapping[str, Any]) -> list[LoadError]:
    """What OSMO finds wrong at load: three sections' types, and sections that are no map. Nothing else."""
    errors: list[LoadError] = []
    for section, model in TYPED.items():
        given = config.get(section)
        if not given:
            continue
        try:
            model.model_validate(given)
        except ValidationError as error:
            errors.append(LoadError(section, as_refusal(error)))
        except Refusal as refusal:
            errors.append(LoadError(section, refusal))
    for section in NAMED:
        given = config.get(section)
        if given is not None and not isinstance(given, dict):
            errors.append(LoadError(section, crash(f"{section} is no map")))
    return errors


def load(config: Mapping[str, Any], namespace: str = "osmo-workflows") -> Configuration:
    """The configuration as the service holds it (the content of its config.yaml, secrets filled in).

    Names that lead nowhere don't stop it: they are on the result, for whoever asks. Raises Refusal where the service
    would not start.
    """
    errors = load_errors(config)
    if errors:
        told = "; ".join(f"{error.section}: {error.refusal.message}" for error in errors)
        raise Refusal("ValidationError", told)
    data = copy.deepcopy(dict(config))
    missing: list[Missing] = []
    for name, pool in list(a_map(data.get("pools")).items()):
        if isinstance(pool, Mapping):
            try:
                data["pools"][name], gone = resolve_pool(name, cast("Mapping[str, Any]", pool), data)
            except UNEXPECTED_SHAPE as error:
                raise crash(f"pool '{name}': {error}") from None
            missing += gone
    return Configuration(data, missing, namespace)
