"""Prometheus rules for simulations whose time passes faster than real time: all durations in the rules are divided by
one factor.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from simulator.cluster.objects import Json
from simulator.metrics.scraping import duration

UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0, "y": 31536000.0}
_DURATION = r"(?:\d+(?:ms|[smhdwy]))+"
_PART = re.compile(r"(\d+)(ms|[smhdwy])")
_IN_EXPRESSION = re.compile(
    rf'"(?:[^"\\]|\\.)*"'  # a string is left as it is
    rf"|\[\s*(?P<range>{_DURATION})(?:\s*:\s*(?P<step>{_DURATION})?)?\s*\]"
    rf"|\boffset\s+(?P<offset>-?{_DURATION})"
)
HOLDS = ("for", "keep_firing_for")


def seconds(text: str) -> float:
    """Seconds in a duration of Prometheus.

    >>> seconds("1h30m")
    5400.0
    """
    return sum(int(number) * UNITS[unit] for number, unit in _PART.findall(text))


def expression(text: str, factor: float) -> str:
    """A PromQL expression with ranges, subqueries and offsets divided by the factor.

    >>> expression('rate(a{b="[5m]"}[5m]) > avg_over_time(c[30m:1m] offset 1h)', 60)
    'rate(a{b="[5m]"}[5000ms]) > avg_over_time(c[30000ms:1000ms] offset 60000ms)'
    """

    def shorter(found: re.Match[str]) -> str:
        if found["range"]:
            step = f":{_scaled(found['step'], factor)}" if found["step"] else ":" if ":" in found[0] else ""
            return f"[{_scaled(found['range'], factor)}{step}]"
        if found["offset"]:
            sign = "-" if found["offset"].startswith("-") else ""
            return f"offset {sign}{_scaled(found['offset'], factor)}"
        return found[0]

    return _IN_EXPRESSION.sub(shorter, text)


def rules(groups: Json, factor: float, interval_seconds: float) -> Json:
    """A rule file in which the durations of `for`, `keep_firing_for` and ranges are divided by `factor`. Prometheus
    evaluates the rules every `interval_seconds` of real time.
    """
    return {
        "groups": [
            {
                **group,
                "interval": duration(interval_seconds),
                "rules": [_rule(each, factor) for each in group["rules"]],
            }
            for group in groups.get("groups") or ()
        ]
    }


def _rule(rule: Mapping[str, Any], factor: float) -> Json:
    holds = {key: _scaled(str(rule[key]), factor) for key in HOLDS if key in rule}
    return {**rule, **holds, "expr": expression(str(rule["expr"]), factor)}


def _scaled(text: str, factor: float) -> str:
    return duration(seconds(text) / factor)
