"""Choice among the pools that could grow: by the most Pods that get a place, or by priorities of a ConfigMap. Pure
functions.

Read in kubernetes/autoscaler, cluster-autoscaler/expander/priority/priority.go and readme.md, on 2026-11-28.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

import yaml

from simulator.cluster.objects import at
from simulator.scheduling.autoscaler.growth import Choice, Growth, most_pods

PRIORITY = "priority"
"""Value of `expander` in the cluster's profile with which the priorities count."""
CONFIG_MAP, NAMESPACE, KEY = "cluster-autoscaler-priority-expander", "kube-system", "priorities"
Priorities = Mapping[int, Sequence[str]]


class InvalidPriorities(ValueError):
    """Raised for a ConfigMap that the autoscaler cannot use. No pool grows then."""


def choice(profile: Mapping[str, Any], config_map: Mapping[str, Any] | None) -> Choice:
    """Choice that the cluster's autoscaler profile asks for. Without `priority`, AKS' default is a random choice, for
    which the simulation takes the pool that helps the most Pods.

    `config_map`: the ConfigMap with the priorities; None if there is none.

    Raises InvalidPriorities if the profile asks for priorities and the ConfigMap has none that can be used.
    """
    if profile.get("expander") != PRIORITY:
        return most_pods
    if config_map is None:
        raise InvalidPriorities(f"Priority expander config map {CONFIG_MAP} not found")
    priorities = parsed(str(at(config_map, f"data.{KEY}", "")))
    return lambda options: by_priority(options, priorities)


def parsed(text: str) -> Priorities:
    """Priorities of the ConfigMap: regular expressions for names of scale sets, by number.

    >>> parsed('50: ["^aks-spot-"]')
    {50: ['^aks-spot-']}
    """
    try:
        found: Any = yaml.safe_load(text)
    except yaml.YAMLError as problem:
        raise InvalidPriorities(f"Can't parse YAML with priorities in the configmap: {problem}") from None
    if not isinstance(found, dict) or not found:
        raise InvalidPriorities(f"priority configuration in {CONFIG_MAP} configmap is empty")
    priorities = cast("dict[Any, Any]", found)
    for number, expressions in priorities.items():
        if not isinstance(number, int) or not isinstance(expressions, list):
            raise InvalidPriorities(f"priority {number}: a number with a list of regular expressions is expected")
        for each in cast("list[Any]", expressions):
            try:
                re.compile(str(each))
            except re.error as problem:
                raise InvalidPriorities(
                    f"Can't compile regexp rule for priority {number} and rule {each}: {problem}"
                ) from None
    return priorities


def by_priority(options: Sequence[Growth], priorities: Priorities) -> Growth | None:
    """Best of the pools with the highest priority. Pools without a priority count only if none has one."""
    numbers = [(_priority(each.group.pool.scale_set, priorities), each) for each in options]
    highest = max((number for number, _ in numbers if number is not None), default=None)
    return most_pods([each for number, each in numbers if number == highest])


def _priority(scale_set: str, priorities: Priorities) -> int | None:
    fitting = [number for number, texts in priorities.items() if any(re.search(text, scale_set) for text in texts)]
    return max(fitting, default=None)
