"""YAML of plain values, by libyaml, which is several times as fast as PyYAML's own parser and emitter."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import yaml

# libyaml is part of every PyYAML wheel; a source build may lack it.
LOADER: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
DUMPER: type[Any] = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def load(text: str) -> Any:
    """The one document of a text; None where there is none. Raises yaml.YAMLError."""
    return yaml.load(text, Loader=LOADER)  # noqa: S506 - one of the two safe loaders


@lru_cache(256)
def load_shared(text: str) -> Any:
    """Parses as `load` does, and only once for a text that is read again. The result must not be changed."""
    return load(text)


def load_all(text: str) -> list[Any]:
    """The documents of a text, with None for an empty one. Raises yaml.YAMLError."""
    return list(yaml.load_all(text, Loader=LOADER))


def dump(value: Any, *, sort_keys: bool = False) -> str:
    """A value for programs to read. What people read, or what is compared, keeps PyYAML's own layout."""
    return yaml.dump(value, Dumper=DUMPER, sort_keys=sort_keys)
