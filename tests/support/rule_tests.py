"""promtool over the rules of a stack: what fires from which series, in one process for many cases."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from physical_ai import safe_yaml
from physical_ai.telemetry.parameters import Parameters
from physical_ai.telemetry.promql import metrics
from physical_ai.telemetry.rendering import rule_file
from physical_ai.telemetry.rules import alerts, records
from tests.support.promtool import promtool

FIRING = 'count by (alertname, node, pod) (ALERTS{alertstate="firing"})'

EVER = 'count by (alertname, node) (count_over_time(ALERTS{{alertstate="firing"}}[{}m]))'


@dataclass(frozen=True)
class Fired:
    """An alert, and the node or Pod that it is about; empty for the whole cluster."""

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
    """Series, and which alerts fire from them at each of some minutes: these and no others."""

    name: str
    series: Mapping[str, str]
    fires: Mapping[int, Sequence[Fired]]
    values: Mapping[str, tuple[int, float | None]] = field(default_factory=dict[str, tuple[int, float | None]])
    """Expressions, with the minute and the value; None where it has no result."""
    ever: Mapping[int, Sequence[tuple[str, str]]] = field(default_factory=dict[int, Sequence[tuple[str, str]]])
    """What has fired until a minute, as alert and node or as alert and nothing: once each, these and no others."""

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
        return {"name": self.name, "interval": "1m", "input_series": series, "promql_expr_test": samples}


def check(parameters: Parameters, scenes: Sequence[Scene], folder: Path) -> None:
    """Asserts that every scene comes out as it says."""
    found = failures(parameters, scenes, folder)
    assert not found, found


def read_by(parameters: Parameters) -> frozenset[str]:
    """Names of the series that the rules read: promtool need not load others."""
    every = (*alerts(parameters), *records(parameters))
    return frozenset(name for each in every for name in metrics(each.expression))


def failures(parameters: Parameters, scenes: Sequence[Scene], folder: Path) -> str:
    """The scenes that do not come out as they say, as promtool reports them; empty where all do."""
    (folder / "rules.yaml").write_text(rule_file(parameters))
    file = folder / "scenes.yaml"
    wanted = read_by(parameters)
    tests = [
        {
            **each.test,
            "input_series": [one for one in each.test["input_series"] if one["series"].split("{")[0] in wanted],
        }
        for each in scenes
    ]
    file.write_text(safe_yaml.dump({"rule_files": ["rules.yaml"], "evaluation_interval": "1m", "tests": tests}))
    answer = promtool("test", "rules", file)
    return "" if answer.returncode == 0 else re.sub(r"\n\s*\n+", "\n", answer.stdout + answer.stderr)
