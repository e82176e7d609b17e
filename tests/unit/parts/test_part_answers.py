"""Answers of a part's functions that do not fit: errors with the function's file and name, and the nearest setting."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any
from unittest import mock

import pytest

from parts.registry import PARTS
from physical_ai.input_errors import PartError
from physical_ai.planning.part_plans import part_policies
from physical_ai.planning.scraping import exporters
from physical_ai.settings import Overlay, Settings, load
from physical_ai.settings.facts.images import program_images
from physical_ai.settings.facts.required_secrets import required_secrets
from physical_ai.settings.rules.check import check
from physical_ai.settings.rules.finding import SettingFinding, error

SETTINGS = load(
    "dev-westus2", [Overlay.assign(["monitoring.metrics=azure", "monitoring.traces.endpoint=https://otlp.contoso.com"])]
).settings
TRACES = next(part for part in PARTS if part.name == "traces")


def node_policies(settings: Settings) -> list[Mapping[str, Any]]:
    """Policies about nodes of all parts, as the component asks for them."""
    return [policy for part in PARTS for policy in part_policies(part, settings)]


def text_of(asks: Callable[[Any], object], **fields: Any) -> str:
    """Error of a question to the list of parts, which has the part `traces` alone, with other `fields`."""
    with mock.patch(f"{asks.__module__}.PARTS", (replace(TRACES, **fields),)), pytest.raises(PartError) as raised:
        asks(SETTINGS)
    return str(raised.value)


def misspelt(_settings: object) -> dict[str, tuple[str, ...]]:
    """An image with a setting that does not exist."""
    return {"docker.io/library/a": ("monitoring", "trases", "endpoint")}


def test_the_setting_of_an_image_has_to_exist() -> None:
    text = text_of(program_images, images=misspelt)
    file, problem, fix = text.split("\n  ")
    assert file.endswith("/test_part_answers.py: misspelt")
    assert problem == "There is no setting 'monitoring.trases.endpoint'."
    assert fix == "Did you mean 'traces'?"


def test_a_function_without_a_name_is_named_by_its_field() -> None:
    text = text_of(required_secrets, secrets=lambda _settings: [(("monitorin", "traces"), "tracesKey")])  # pyright: ignore[reportUnknownLambdaType] # a wrong one
    assert text.startswith("parts/traces/part.py: secrets\n  There is no setting 'monitorin.traces'.")
    assert text.endswith("Did you mean 'monitoring'?")


@pytest.mark.parametrize(
    ("asks", "field", "answer", "advice"),
    [
        (program_images, "images", ["a"], "type list, not a mapping.\n  Return {image: the path of a setting}."),
        (
            program_images,
            "images",
            {"a": "monitoring.traces"},
            'not a tuple.\n  Write it like ("monitoring", "traces")',
        ),
        (required_secrets, "secrets", 3, "type int, not a list"),
        (required_secrets, "secrets", ["tracesKey"], "type str, not a pair"),
        (required_secrets, "secrets", [(("monitoring",), "a", "b")], "type tuple, not a pair"),
        (required_secrets, "secrets", [(("monitoring",), 3)], "the name of a secret of the type int, not a text"),
        (program_images, "images", {3: ("monitoring",)}, "an image of the type int, not a text"),
        (exporters, "exporters", None, "type NoneType, not a list.\n  Return a list, each of it an Exporter"),
        (exporters, "exporters", ["dcgm"], "type str, not an Exporter"),
        (node_policies, "node_policies", {"kind": "Policy"}, "type str, not a Kubernetes object"),
    ],
)
def test_an_answer_of_another_kind_is_named(
    asks: Callable[[Any], object], field: str, answer: object, advice: str
) -> None:
    def answers(_settings: object) -> object:
        return answer

    assert advice in text_of(asks, **{field: answers})


def test_a_rule_without_a_name_or_without_findings_is_named_by_its_field() -> None:
    def rule(_wrong: object, _settings: object, _trust: object) -> object:
        return None

    text = text_of(check, rules=(partial(rule, 1),))
    assert text == (
        "parts/traces/part.py: rules\n  The rule returns a NoneType, not a list of findings.\n"
        "  Yield the findings, or return a list of them."
    )


@pytest.mark.parametrize("others", [False, True])
def test_the_settings_of_a_finding_have_to_exist(others: bool) -> None:
    wrong = ("monitoring", "traces", "endpiont")

    def rule(_settings: object, _trust: object) -> Iterator[SettingFinding]:
        yield error(("monitoring",), "wrong", others=(wrong,)) if others else error(wrong, "wrong")

    text = text_of(check, rules=(rule,))
    assert text.endswith("py: rule\n  There is no setting 'monitoring.traces.endpiont'.\n  Did you mean 'endpoint'?")
