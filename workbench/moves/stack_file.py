"""Change of a stack file for a stage of a move. The text keeps its comments, order and layout."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from physical_ai.nested import at, is_mapping
from physical_ai.settings.layers.document import read_document
from physical_ai.settings.layers.stack_file import PREFIX
from workbench.moves.layers import Keys, Move, State, layer, touched
from workbench.upgrade.yaml_text import NotEditable, with_value, without

ABSENT = object()
CONFIG = "config"


def rewritten(text: str, move: Move, own: Mapping[str, Any], state: State, cap: int | None) -> str:
    """Text of the stack file that brings the stack to `state`.

    Args:
        own: What the stack file had about the old pool and its platform before the move.

    Raises:
        NotEditable: the file has a layout in which the change cannot be made.
    """
    wanted = target(move, own, state, cap)
    whole = ("pools", move.old)
    paths = touched(move, state)
    if whole not in paths and not is_mapping(_at(_settings(text), whole)):
        paths = [whole, *paths]  # the state `moved` has left a null, or nothing
    for path in paths:
        text = _set(text, path, _at(wanted, path) if _has(wanted, path) else ABSENT)
    return text


def target(move: Move, own: Mapping[str, Any], state: State, cap: int | None) -> dict[str, Any]:
    """Settings of both pools and their platforms in the stack file in `state`. A null removes a pool of the layers."""
    found = _laid(own, layer(move, state, cap))
    pools: dict[str, Any] = found.get("pools") or {}
    if state == "moved" and not move.below:
        pools.pop(move.old, None)
    platforms: dict[str, Any] = at(found, "osmo.platforms", {})
    if state == "moved" and _at(own, ("osmo", "platforms", move.old)) == (move.platform.own if move.platform else None):
        platforms.pop(move.old, None)
    return found


def _laid(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    found = deepcopy(dict(below))
    for key, value in above.items():
        before = found.get(key)
        found[key] = _laid(before, value) if is_mapping(value) and is_mapping(before) else deepcopy(value)
    return found


def _set(text: str, path: Keys, value: Any) -> str:
    settings = _settings(text)
    has, present = _has(settings, path), _at(settings, path)
    if value is ABSENT:
        if not has:
            return text
        return without(text, _in_file(path), _data_without(text, path))
    if has and present == value:
        return text
    return with_value(text, _in_file(path), value, _data_with(text, path, value))


def _in_file(path: Keys) -> Keys:
    return (CONFIG, f"{PREFIX}{path[0]}", *path[1:])


def _settings(text: str) -> dict[str, Any]:
    config: Mapping[str, Any] = read_document(text, "").data.get(CONFIG) or {}
    return {key.removeprefix(PREFIX): value for key, value in config.items()}


def _data_with(text: str, path: Keys, value: Any) -> dict[str, Any]:
    data: dict[str, Any] = deepcopy(dict(read_document(text, "").data))
    inner: dict[str, Any] = data
    for key in _in_file(path)[:-1]:
        below: Any = inner.setdefault(key, {})
        if not is_mapping(below):
            raise NotEditable
        inner[key] = inner = dict(below)
    inner[path[-1]] = value
    return data


def _data_without(text: str, path: Keys) -> dict[str, Any]:
    """Data without the value at a path, and without sections that become empty."""
    data: dict[str, Any] = deepcopy(dict(read_document(text, "").data))
    keys = _in_file(path)
    sections: list[dict[str, Any]] = [data]
    for key in keys[:-1]:
        sections.append(sections[-1][key])
    for section, key in zip(reversed(sections), reversed(keys), strict=True):
        del section[key]
        if section:
            break
    return data


def _has(data: Any, path: Keys) -> bool:
    for key in path:
        if not is_mapping(data) or key not in data:
            return False
        data = data[key]
    return True


def _at(data: Any, path: Keys) -> Any:
    for key in path:
        if not is_mapping(data) or key not in data:
            return None
        data = data[key]
    return data
