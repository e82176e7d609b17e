"""Copies of JSON values, several times as fast as `copy.deepcopy`: worlds in memory hand out thousands."""

from __future__ import annotations

import json
from typing import TypeVar

T = TypeVar("T")


def json_copy(value: T) -> T:
    """A deep copy of maps with text as keys, lists, text, numbers, booleans and nulls."""
    return json.loads(json.dumps(value))
