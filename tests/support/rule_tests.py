"""Tests a stack's rules with promtool: the alerts that fire from given series, in one process for many cases."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from physical_ai.telemetry.parameters import Parameters
from physical_ai.telemetry.promql import metrics
from physical_ai.telemetry.rendering import rule_groups
from physical_ai.telemetry.rule_rows import themes
from physical_ai.telemetry.rules import alerts, records
from tests.support.promtool import promtool

FIRING = 'count by (alertname, node, pod) (ALERTS{alertstate="firing"})'

EVER = 'count by (alertname, node) (count_over_time(ALERTS{{alertstate="firing"}}[{}m]))'


@dataclass(frozen=True)
class Fired:
    """Alert, and the node or Pod that it is about; both are empty for an alert about the whole cluster."""

    alert: str
    node: str = ""
    pod: str = ""
    times: int = 1

    @property
    def sample(self) -> dict[str, Any]:
        named = {"alertname": self.alert, "node": self.node, "pod": self.pod}
        labels = ",".join(f'{key}="{value}"' for key, value in named.items() if value)
        return {"labels": f"{{{labels}}}", "value": self.times}


@dataclass(frozen=True)
class Scene:
    """Series, and all alerts that fire from them at some minutes: no others may fire."""

    name: str
    series: Mapping[str, str]
    fires: Mapping[int, Sequence[Fired]]
    values: Mapping[str, tuple[int, float | None]] = field(default_factory=dict[str, tuple[int, float | None]])
    """Minute and value by expression; the value is None if the expression has no result."""
    ever: Mapping[int, Sequence[tuple[str, str]]] = field(default_factory=dict[int, Sequence[tuple[str, str]]])
    """All alerts that have fired until a minute, each once, by minute. An alert is given as its name and its node; the
    node may be empty.
    """

    @property
    def test(self) -> dict[str, Any]:
        samples = [
            {"expr": FIRING, "eval_time": f"{minute}m", "exp_samples": [each.sample for each in found]}
            for minute, found in self.fires.items()
        ]
        samples += [
            {
                "expr": expression,
                "eval_time": f"{minute}m",
                "exp_samples": [] if value is None else [{"labels": "{}", "value": value}],
            }
            for expression, (minute, value) in self.values.items()
        ]
        samples += [
            {
                "expr": EVER.format(minute),
                "eval_time": f"{minute}m",
                "exp_samples": [Fired(*each).sample for each in found],
            }
            for minute, found in self.ever.items()
        ]
        series = [{"series": name, "values": values} for name, values in self.series.items()]
        return {"name": self.name, "input_series": series, "promql_expr_test": samples}


def check(parameters: Parameters, scenes: Sequence[Scene], folder: Path, interval: int = 1) -> None:
    """Asserts that in every scene exactly the alerts fire that it lists."""
    found = failures([rule_tests(parameters, scenes, folder, interval=interval)])
    assert not found, found


def read_by(parameters: Parameters) -> frozenset[str]:
    """Names of the series that the rules read. Promtool need not load other series."""
    every = (*alerts(parameters), *records(parameters))
    return frozenset(name for each in every for name in metrics(each.expression))


Rule = Mapping[str, Any]


def needed(groups: Sequence[Mapping[str, Any]], is_wanted: Callable[[Rule], bool]) -> list[dict[str, Any]]:
    """Groups that contain the wanted rules, and the recording rules that these read, directly or through others.

    Promtool evaluates every rule of a file for each minute of each test.
    """
    every: list[Rule] = [rule for group in groups for rule in group["rules"]]
    recorded = [rule for rule in every if "record" in rule]
    kept = [rule for rule in every if is_wanted(rule)]
    assert kept
    for rule in kept:
        kept += [each for each in recorded if each["record"] in rule["expr"] and each not in kept]
    reduced = [{**group, "rules": [rule for rule in group["rules"] if rule in kept]} for group in groups]
    return [group for group in reduced if group["rules"]]


def read_by_tests(tests: Sequence[Mapping[str, Any]]) -> Callable[[Rule], bool]:
    """Function that returns True for a recording rule which the expressions of promtool's tests read."""
    read = "\n".join(each["expr"] for test in tests for each in test["promql_expr_test"])
    return lambda rule: "record" in rule and rule["record"] in read


def _without_texts(parameters: Parameters) -> str:
    """Rules without annotations, as JSON: promtool reads it as YAML, and it is written in a tenth of the time."""
    groups = [
        {"name": name, "rules": [{key: value for key, value in rule.items() if key != "annotations"} for rule in rules]}
        for name, rules in rule_groups(parameters).items()
    ]
    return json.dumps({"groups": groups})


def failures(files: Sequence[Path]) -> str:
    """Scenes in which other alerts fire than they list, as promtool reports them; empty if there are none."""
    answer = promtool("test", "rules", *files)
    return "" if answer.returncode == 0 else re.sub(r"\n\s*\n+", "\n", answer.stdout + answer.stderr)


def rule_tests(
    parameters: Parameters, scenes: Sequence[Scene], folder: Path, name: str = "scenes", *, interval: int = 1
) -> Path:
    """Writes the scenes for promtool, and the rules beside them. One process of promtool can read several such files.

    Args:
        interval: Minutes between two values of a series, and between evaluations. A larger interval makes a scene
            faster. It must be below 5, since Prometheus then takes a series as gone.
    """
    rules, file = folder / f"{name}-rules.yaml", folder / f"{name}.yaml"
    rules.write_text(_without_texts(parameters))
    wanted = read_by(parameters)
    tests = [
        {
            **each.test,
            "interval": f"{interval}m",
            "input_series": [one for one in each.test["input_series"] if one["series"].split("{")[0] in wanted],
        }
        for each in scenes
    ]
    file.write_text(promtool_file(rules, tests, interval))
    return file


def promtool_file(rules: Path, tests: Sequence[Mapping[str, Any]], interval: int = 1) -> str:
    """Test file for promtool, as JSON, which promtool reads as YAML. It names the order of the groups, which is random
    otherwise.
    """
    order = ["usage", "causes", *(each.theme for each in themes() if each.theme not in ("usage", "causes"))]
    given = {"rule_files": [rules.name], "evaluation_interval": f"{interval}m", "group_eval_order": order}
    return json.dumps({**given, "tests": list(tests)})
