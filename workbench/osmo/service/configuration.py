"""OSMO's configuration after OSMO has loaded it, and the references in it to pools, platforms and templates that it
does not define. OSMO ignores such references.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

from pydantic import BaseModel, ValidationError

from workbench.osmo.refusal import UNEXPECTED_SHAPE, Refusal, as_refusal, crash
from workbench.osmo.service.pools import (
    BackendSchedulerSettings,
    Missing,
    Pool,
    read_pool,
    read_scheduler,
    resolve_pool,
)
from workbench.osmo.service.sections import DatasetConfig, ServiceSection, WorkflowConfig
from workbench.osmo.shapes import a_map

TYPED: dict[str, type[BaseModel]] = {"service": ServiceSection, "workflow": WorkflowConfig, "dataset": DatasetConfig}
"""Sections whose types OSMO checks when it loads the configuration."""
NAMED = (
    "resource_validations",
    "pod_templates",
    "group_templates",
    "backends",
    "backend_tests",
    "pools",
    "roles",
)
"""Sections that must be maps. OSMO does not check their content when it loads them."""


@dataclass(frozen=True)
class LoadError:
    """An error in the configuration that prevents OSMO from starting."""

    section: str
    refusal: Refusal


@dataclass
class Configuration:
    """A configuration that OSMO can load, with templates merged into its pools."""

    data: dict[str, Any]
    missing: list[Missing]
    namespace: str = "osmo-workflows"
    """Namespace of the workflows' Pods, as OSMO's agent in the cluster reports it (`global.backendNamespace`)."""
    _pools: dict[str, Pool] = field(default_factory=dict[str, Pool])

    def pool(self, name: str) -> Pool:
        """The pool `name` of the configuration. Raises Refusal for an unknown or unreadable pool."""
        if name not in self._pools:
            found = a_map(self.data.get("pools")).get(name)
            if not isinstance(found, Mapping):
                raise Refusal("OSMOUserError", f"pool '{name}' does not exist")
            self._pools[name] = read_pool(name, cast("Mapping[str, Any]", found))
        return self._pools[name]

    @property
    def pool_names(self) -> list[str]:
        return [str(name) for name in a_map(self.data.get("pools"))]

    def scheduler(self, backend: str) -> BackendSchedulerSettings:
        """The scheduler settings of a backend. Raises Refusal for an unknown or unreadable backend."""
        found = a_map(self.data.get("backends")).get(backend)
        if not isinstance(found, Mapping):
            raise Refusal("OSMOError", f"backend '{backend}' does not exist")
        return read_scheduler(cast("Mapping[str, Any]", found))

    @cached_property
    def workflow(self) -> WorkflowConfig:
        return WorkflowConfig.model_validate(self.data.get("workflow") or {})

    @cached_property
    def dataset(self) -> DatasetConfig:
        return DatasetConfig.model_validate(self.data.get("dataset") or {})

    @cached_property
    def service(self) -> ServiceSection:
        return ServiceSection.model_validate(self.data.get("service") or {})


def with_endpoints(config: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration with an address for each bucket credential: a credential without an address gets its bucket's
    address.

    OSMO's loader does the same (NVIDIA/OSMO 6.3.1 configmap_loader.py, _default_dataset_credential_endpoints).
    """
    section = a_map(config.get("dataset"))
    buckets = a_map(section.get("buckets"))
    if not buckets:
        return dict(config)

    def filled(bucket: Any) -> Any:
        own = a_map(bucket)
        credential = a_map(own.get("default_credential"))
        if not credential or "endpoint" in credential:
            return bucket
        return {**own, "default_credential": {**credential, "endpoint": own.get("dataset_path", "")}}

    named = {name: filled(bucket) for name, bucket in buckets.items()}
    return {**config, "dataset": {**section, "buckets": named}}


def load_errors(config: Mapping[str, Any]) -> list[LoadError]:
    """Errors that OSMO finds when it loads the configuration: wrong types in the sections of `TYPED`, and sections that
    are not maps.
    """
    errors: list[LoadError] = []
    config = with_endpoints(config)
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
            errors.append(LoadError(section, crash(f"{section} is not a map")))
    return errors


def load(config: Mapping[str, Any], namespace: str = "osmo-workflows") -> Configuration:
    """OSMO's configuration after loading. `config` is the content of OSMO's config.yaml, with secrets filled in.

    Undefined names do not stop OSMO: the result lists them in `missing`. Raises Refusal if OSMO would not start with
    `config`.
    """
    errors = load_errors(config)
    if errors:
        raise Refusal("ValidationError", "; ".join(f"{error.section}: {error.refusal.message}" for error in errors))
    data = copy.deepcopy(with_endpoints(config))
    missing: list[Missing] = []
    for name, pool in list(a_map(data.get("pools")).items()):
        if isinstance(pool, Mapping):
            try:
                data["pools"][name], unknown = resolve_pool(name, cast("Mapping[str, Any]", pool), data)
            except UNEXPECTED_SHAPE as error:
                raise crash(f"pool '{name}': {error}") from None
            missing += unknown
    return Configuration(data, missing, namespace)
