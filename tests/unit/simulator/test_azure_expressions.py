"""Expressions of templates that ARM could not read: its message, and no error of this program."""

from __future__ import annotations

import pytest

from simulator.azure.deployments.expressions import InvalidTemplate, Scope


@pytest.mark.parametrize(
    "text",
    ["[parameters()]", "[reference()]", "[subscriptionResourceId()]", "[subscriptionResourceId('A.B/c', 'x', 'y')]"],
)
def test_a_function_with_other_arguments_is_an_invalid_template(text: str) -> None:
    with pytest.raises(InvalidTemplate, match="The template function"):
        Scope({}, lambda id_: id_).evaluated(text)
