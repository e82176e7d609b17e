"""The rule tables, and that the simulator accounts for every rule, documented or believed."""

from __future__ import annotations

import pytest

from physical_ai.simulator.azure import schema
from physical_ai.simulator.azure.data import KINDS, by_token, mappings, not_modelled, rules
from physical_ai.simulator.azure.data import schema as table
from physical_ai.simulator.azure.registry import modelled_by

MODELLED = set(modelled_by()) | set(schema.NAMED_RULES)


@pytest.mark.parametrize("rule_id", list(rules()))
def test_rule_is_either_modelled_or_left_out_with_a_reason(rule_id: str) -> None:
    assert (rule_id in MODELLED) != (rule_id in not_modelled())


def test_every_modelled_or_left_out_rule_is_in_the_table() -> None:
    assert (MODELLED | set(not_modelled())) <= set(rules())
    assert all(len(reason) > 20 for reason in not_modelled().values())


@pytest.mark.parametrize("kind", KINDS)
def test_every_input_is_mapped_to_the_body(kind: str) -> None:
    mapping, known = mappings()[kind], table(kind)
    assert by_token()[mapping.token] is mapping
    for name, path in mapping.inputs.items():
        assert path in known or name in mapping.input_only or name == "type", f"{name} → {path}"
