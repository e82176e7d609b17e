"""The settings tree seen from outside: which keys a place may have, and what a value there looks like.

Derived from the models, so that suggestions, defaults and the reference always match them.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from physical_ai.settings.guards import is_map
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.models.tree import Settings

FROM_STACK_NAME = frozenset({"environment", "region"})
"""Settings that the stack's name gives; no file may set them."""


@dataclass(frozen=True)
class Shape:
    """The type at one path of the tree."""

    kind: Literal["model", "map", "list", "value"]
    info: FieldInfo | None = None
    fields: Mapping[str, Shape] = field(default_factory=dict[str, "Shape"])
    """Keys of a model, in YAML's spelling."""
    item: Shape | None = None
    """Shape of the entries of a map or list."""
    type: Any = None
    """The type of a value."""


@lru_cache(maxsize=1)
def tree() -> Shape:
    """The shape of the whole tree, as files may write it."""
    whole = _shape(Settings, None)
    return Shape("model", fields={key: item for key, item in whole.fields.items() if key not in FROM_STACK_NAME})


def shape_at(path: Path) -> Shape | None:
    """The shape at a path, or None where the tree has no such place."""
    here: Shape | None = tree()
    for step in path:
        if here is None:
            return None
        here = here.fields.get(str(step)) if here.kind == "model" else here.item
    return here


def below(shape: Shape, data: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every leaf of dumped settings with its path: values, lists, and maps that are empty."""
    if shape.kind in ("model", "map") and is_map(data) and data:
        for key, value in data.items():
            inner = shape.fields.get(key) if shape.kind == "model" else shape.item
            yield from below(inner, value, (*path, key)) if inner else ()
    else:
        yield path, data


def _shape(annotation: Any, info: FieldInfo | None) -> Shape:
    annotation = _bare(annotation)
    origin = typing.get_origin(annotation)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        fields = {
            f.alias or name: _shape(f.annotation, f) for name, f in annotation.model_fields.items() if not f.exclude
        }
        return Shape("model", info, fields)
    if origin is dict:
        return Shape("map", info, item=_shape(typing.get_args(annotation)[1], None))
    if origin is tuple:
        return Shape("list", info, item=_shape(typing.get_args(annotation)[0], None))
    return Shape("value", info, type=annotation)


def _bare(annotation: Any) -> Any:
    """The type inside Annotated[...] and Optional[...]."""
    while True:
        origin = typing.get_origin(annotation)
        if origin is typing.Annotated:
            annotation = typing.get_args(annotation)[0]
        elif origin in (typing.Union, types.UnionType):
            inner = [arg for arg in typing.get_args(annotation) if arg is not type(None)]
            if len(inner) != 1:
                return annotation
            annotation = inner[0]
        else:
            return annotation
