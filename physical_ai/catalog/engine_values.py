"""How Pulumi's engine marks values that JSON cannot represent, in state, in events and to plugins.

Source: pulumi/pulumi, sdk/go/common/resource/sig/sig.go.
"""

from __future__ import annotations

from typing import Any, cast

SIGNATURE = "4dabf18193072939515e22adb298388d"
"""Key that marks an object as such a value; its value is the kind."""
SECRET = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105 - the mark of a secret, not one
UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""A value that is not known yet, in place of it (pulumi/pulumi, sdk/go/common/resource/plugin/rpc.go)."""
OUTPUT = "d0e6a833031e9bbcd3f4e8bde6ca49a4"


def is_secret(value: Any) -> bool:
    return isinstance(value, dict) and cast("dict[str, Any]", value).get(SIGNATURE) == SECRET
