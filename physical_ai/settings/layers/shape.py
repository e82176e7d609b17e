"""Structure of the settings tree: the keys that a path may have, and the type of its value.

It is derived from the models, so suggestions, defaults and the reference always match the models.
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
"""Settings that follow from the stack's name, and that no file may set."""


@dataclass(frozen=True)
class Shape:
    """Structure at one path of the settings tree."""

    kind: Literal["model", "map", "list", "value"]
    info: FieldInfo | None = None
    fields: Mapping[str, Shape] = field(default_factory=dict[str, "Shape"])
    """Shapes of a model's fields, by YAML key; empty if the value is not a model."""
    item: Shape | None = None
    """Shape of each entry of a map or list; None for any other value."""
    type: Any = None
    """Python type of a single value; None for a model, map or list."""


@lru_cache(maxsize=1)
def tree() -> Shape:
    """Shape of the whole settings tree, except `environment` and `region`, which no file may set."""
    whole = _shape(Settings, None)
    return Shape("model", fields={key: item for key, item in whole.fields.items() if key not in FROM_STACK_NAME})


def shape_at(path: Path) -> Shape | None:
    """Shape at a path; None where the tree has no such path."""
    here: Shape | None = tree()
    for step in path:
        if here is None:
            return None
        here = here.fields.get(str(step)) if here.kind == "model" else here.item
    return here


def unknown_beginning(path: Path) -> Path | None:
    """Shortest beginning of a path that the tree does not have; None where the tree has the whole path.

    >>> unknown_beginning(("monitoring", "trases", "endpoint"))
    ('monitoring', 'trases')
    """
    return next((path[:length] for length in range(1, len(path) + 1) if shape_at(path[:length]) is None), None)


def below(shape: Shape, data: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Path and value of every leaf in dumped settings. Lists and empty maps are leaves too."""
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
    """Type inside Annotated[...] and Optional[...]."""
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
