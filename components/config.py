"""Configuration of the stack, decoded from the form in which Pulumi's engine passes it to the program."""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import pulumi
from pulumi.runtime.config import CONFIG, get_config_env

from components.downloads import CHECKSUMS, PullFailed, plugin_problems, pulled_charts
from components.kubernetes.charts import archive_problems, missing_archives
from physical_ai.catalog.chart_archives import ARCHIVES, LOCK
from physical_ai.catalog.reading import file_label
from physical_ai.planning.service_chart.release import mek_problem
from physical_ai.readiness.environment import unusable_variables
from physical_ai.settings import Fault, Loaded, SettingsError, load_config
from physical_ai.settings.facts.osmo_access import MEK_SECRET
from physical_ai.settings.facts.required_secrets import required_secrets
from physical_ai.settings.faults import fault
from physical_ai.settings.layers.stack_file import SECRETS
from physical_ai.settings.rules.compat import refusals
from physical_ai.settings.rules.deployers import unnamed_deployers
from physical_ai.settings.secrets import Secrets, secret_texts, secrets

SIMULATED_VARIABLE = "PHYSICAL_AI_SIMULATED"
"""Environment variable that the simulator sets to 1. With it, the providers do not connect to Azure."""
CHARTS_VARIABLE = "PHYSICAL_AI_CHARTS"
"""Environment variable with which a pipeline makes every stack install chart archives that were pulled before. Its only
value is `cache`.
"""
ENVIRONMENT = "(environment)"
WOULD_REFUSE = "A real deployment would be refused:"


def decode(value: Any) -> Any:
    """Python value of a configuration value. The engine passes objects, lists, booleans and numbers as JSON texts; a
    text that is not JSON is returned unchanged.
    """
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


def of_project(raw: Mapping[str, Any], project: str) -> dict[str, Any]:
    """Decoded configuration of the project `project`, without the key `secrets`. Keys have no project prefix.

    >>> of_project({"physical-ai:protect": "true", "azure-native:location": "westus2"}, "physical-ai")
    {'protect': True}
    """
    prefix = f"{project}:"
    ours = {key.removeprefix(prefix): value for key, value in raw.items() if key.startswith(prefix)}
    return {key: decode(value) for key, value in ours.items() if key != SECRETS}


def is_simulated(environment: Mapping[str, str]) -> bool:
    return environment.get(SIMULATED_VARIABLE) == "1"


def configured() -> tuple[Loaded, Secrets]:
    """Settings and secrets of the stack.

    The warnings of the settings include the warnings about chart values.

    Raises:
        SettingsError: the settings, an environment variable, the chart values or the chart archives cannot be used.
            Against the real Azure also: values from examples, with which a protected cluster would be unreachable;
            versions that are incompatible or out of support; a stack without deployers; provider plugins that are not
            the recorded ones. A simulation only warns of these settings.
    """
    if faults := environment_faults(os.environ):
        raise SettingsError(faults)
    read = load_config(pulumi.get_stack(), engine_config())
    pulls = pulls_charts(read, os.environ)
    loaded = with_verified_charts(read, os.environ)
    if faults := archive_faults(loaded):
        raise SettingsError(faults)
    warnings = list(loaded.warnings)
    refused = [*refusals(loaded, today()), *unnamed_deployers(loaded), *([] if pulls else missing_faults(loaded))]
    if is_simulated(os.environ):
        warnings += [replace(fault.as_warning(), problem=f"{WOULD_REFUSE} {fault.problem}") for fault in refused]
    else:
        loaded.for_azure([*refused, *plugin_faults()])
    texts = secret_texts(pulumi.Config())
    if faults := [*secret_faults(loaded, texts), *key_faults(loaded, texts)]:
        raise SettingsError(faults)
    if pulls and missing_archives(loaded.plan.charts):
        warnings += pull_warnings(loaded)
    return replace(loaded, warnings=warnings), secrets(texts)


def environment_faults(environment: Mapping[str, str]) -> list[Fault]:
    """Faults of environment variables whose values the program cannot use. They are found before the deployment begins;
    the program itself uses the variables only near the end.
    """
    unusable = list(unusable_variables(environment))
    if environment.get(CHARTS_VARIABLE, "") not in ("", "cache"):
        unusable.append((CHARTS_VARIABLE, f"'{environment[CHARTS_VARIABLE]}': write cache, or omit it."))
    return [fault(ENVIRONMENT, variable, problem) for variable, problem in unusable]


def with_verified_charts(loaded: Loaded, environment: Mapping[str, str]) -> Loaded:
    """Returns `loaded` with `charts.source: cache`, unless a simulation asks for another source.

    With `cache`, a release is installed from the archive that was verified. With another source, Pulumi's Kubernetes
    provider would download the chart again, without a check of its checksum.
    """
    if is_simulated(environment) and environment.get(CHARTS_VARIABLE) != "cache":
        return loaded
    charts = loaded.settings.charts.model_copy(update={"source": "cache"})
    return replace(loaded, settings=loaded.settings.model_copy(update={"charts": charts}))


def pulls_charts(loaded: Loaded, environment: Mapping[str, str]) -> bool:
    """True if the program itself pulls missing chart archives: with `charts.source: repository`, outside of
    simulations, and outside of pipelines that have pulled the archives before.
    """
    by_itself = loaded.settings.charts.source == "repository" and environment.get(CHARTS_VARIABLE) != "cache"
    return by_itself and not is_simulated(environment)


def pull_warnings(loaded: Loaded) -> list[Fault]:
    """Pulls the charts, and returns a warning for each chart whose first checksum was recorded now.

    Raises SettingsError if the pull fails.
    """
    where = ("charts", "source")
    try:
        first = pulled_charts(pulumi.get_stack())
    except PullFailed as problem:
        raise SettingsError([loaded.merged.fault(where, str(problem))]) from None
    fix = f"Compare it with another source, and commit stacks/{LOCK.name}: every later deployment must find the same."
    return [
        loaded.merged.fault(where, f"No checksum of {title} was known; {sha256} is recorded.", fix).as_warning()
        for title, sha256 in first
    ]


def plugin_faults() -> list[Fault]:
    """Faults of provider plugins that are not installed, have no recorded checksum, or differ from the recorded
    checksum. The engine itself does not verify the plugins that it downloads.
    """
    return [fault(file_label(CHECKSUMS), name, problem, fix) for name, problem, fix in plugin_problems()]


def secret_faults(loaded: Loaded, given: Iterable[str]) -> list[Fault]:
    """Faults of settings that name a secret which the stack does not have. `given`: names of the stack's secrets."""
    names = frozenset(given)
    return [
        loaded.merged.fault(
            path,
            f"The stack has no secret '{name}'.",
            f"pulumi config set --secret --path 'physical-ai:{SECRETS}.{name}'",
        )
        for path, name in required_secrets(loaded.settings)
        if name not in names
    ]


def key_faults(loaded: Loaded, texts: Mapping[str, str]) -> list[Fault]:
    """Fault of a master encryption key that OSMO's control plane could not read; the list is empty if the key is
    readable or absent. OSMO itself would report no error. `texts`: the stack's secrets, by name.
    """
    if MEK_SECRET not in texts or not loaded.settings.osmo.installs_service:
        return []
    problem, _, fix = (mek_problem(texts[MEK_SECRET]) or "").partition("\n  ")
    return [loaded.merged.fault((SECRETS, MEK_SECRET), problem, fix)] if problem else []


def archive_faults(loaded: Loaded) -> list[Fault]:
    """Faults of chart archives that are not the pinned ones, in a stack with `charts.source: cache`."""
    return _faults(loaded, archive_problems(loaded.plan.charts))


def missing_faults(loaded: Loaded) -> list[Fault]:
    """Fault of chart archives that were not pulled, in a stack with `charts.source: cache`.

    A simulation uses the simulator's models of charts instead.
    """
    missing = ", ".join(f"{chart.name} {chart.version}" for chart in missing_archives(loaded.plan.charts))
    return _faults(loaded, [f"The archives of {missing} are not in {ARCHIVES.name}."] if missing else [])


def _faults(loaded: Loaded, problems: Iterable[str]) -> list[Fault]:
    if loaded.settings.charts.source != "cache":
        return []
    fix = f"Run `physai charts pull {pulumi.get_stack()}`."
    return [loaded.merged.fault(("charts", "source"), problem, fix) for problem in problems]


def today() -> datetime.date:
    """The day for which the support of versions is checked."""
    return datetime.datetime.now(datetime.UTC).date()


def engine_config() -> dict[str, Any]:
    """All settings of this stack in the engine's configuration, declared in Pulumi.yaml or not.

    `pulumi.Config` only returns values of known keys, so a mistyped key would be ignored without an error. The language
    host passes all settings in the environment variable PULUMI_CONFIG; the Automation API passes them in a map inside
    Pulumi's Python runtime.
    """
    return of_project({**get_config_env(), **CONFIG.get()}, pulumi.get_project())
