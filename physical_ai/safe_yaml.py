"""Reading and writing of plain YAML with libyaml, which is several times as fast as PyYAML's own parser and
emitter.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import yaml

# libyaml is part of every PyYAML wheel; a source build may lack it.
LOADER: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
DUMPER: type[Any] = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def load(text: str) -> Any:
    """Value of the only document in a YAML text; None if the text has no document. Raises yaml.YAMLError."""
    return yaml.load(text, Loader=LOADER)  # noqa: S506 - one of the two safe loaders


@lru_cache(256)
def load_shared(text: str) -> Any:
    """Value of the only document in a YAML text, parsed once for each text. Callers must not change the result."""
    return load(text)


def load_all(text: str) -> list[Any]:
    """Values of the documents in a YAML text; None for an empty document. Raises yaml.YAMLError."""
    return list(yaml.load_all(text, Loader=LOADER))


def dump(value: Any, *, sort_keys: bool = False) -> str:
    """YAML of a value for programs to read. For people, and for comparisons, PyYAML's own layout is used instead."""
    return yaml.dump(value, Dumper=DUMPER, sort_keys=sort_keys)
