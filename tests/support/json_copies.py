"""Copies JSON values, several times as fast as `copy.deepcopy`: in-memory worlds hand out thousands of them."""

from __future__ import annotations

import json
from typing import TypeVar

T = TypeVar("T")


def json_copy(value: T) -> T:
    """Deep copy of a value of maps with texts as keys, lists, texts, numbers, booleans and nulls."""
    return json.loads(json.dumps(value))
