"""The rule tables, and that the simulator accounts for every rule, documented or believed."""

from __future__ import annotations

import pytest

from physical_ai.catalog.aks import Role
from simulator.azure import schema
from simulator.azure.data import KINDS, DuplicateEntry, by_key, by_token, load_json, mappings, rules
from simulator.azure.data import schema as table
from simulator.azure.registry import MODELED
from simulator.azure.roles import builtin_roles
from tests.support.cases import in_one_test

IN_CODE = set(MODELED) | set(schema.NAMED_RULES)
LEFT_OUT: dict[str, str] = load_json("not_modelled.json")


def test_each_rule_is_either_modelled_or_left_out_with_a_reason() -> None:
    assert [rule for rule in rules() if (rule in IN_CODE) == (rule in LEFT_OUT)] == []


def test_every_modelled_or_left_out_rule_is_in_the_table() -> None:
    assert (IN_CODE | LEFT_OUT.keys()) <= set(rules())
    assert all(len(reason) > 20 for reason in LEFT_OUT.values())


@in_one_test("kind", KINDS)
def test_every_input_is_mapped_to_the_body(kind: str) -> None:
    mapping, known = mappings()[kind], table(kind)
    assert by_token()[mapping.token] is mapping
    for name, path in mapping.inputs.items():
        assert path in known or name in mapping.input_only or name == "type", f"{name} → {path}"


def test_a_duplicate_entry_is_an_error() -> None:
    with pytest.raises(DuplicateEntry, match="AcrPull"):
        by_key([("AcrPull", 1), ("AcrPull", 2)])
    assert by_key([("AcrPull", 1), ("AcrPush", 2)]) == {"AcrPull": 1, "AcrPush": 2}


def test_no_file_has_duplicate_entries() -> None:
    for name in ("builtin_roles.json", "rules.json", "kubernetes_versions.json", "not_modelled.json"):
        assert load_json(name)
    assert len({role.name for role in builtin_roles().values()}) == len(builtin_roles())


def test_the_roles_of_the_catalogue_are_known_by_the_same_names() -> None:
    """Under another id a role would be another one."""
    roles = builtin_roles()
    for role in Role:
        words = role.name.lower().split("_")
        assert role in roles, role
        assert all(word in roles[role].name.lower() for word in words), (role, roles[role].name)
