"""Markers that Pulumi's engine uses for values that JSON cannot represent, in the state, in events and in calls of
providers.

Source: pulumi/pulumi, sdk/go/common/resource/sig/sig.go.
"""

from __future__ import annotations

from typing import Any, cast

SIGNATURE = "4dabf18193072939515e22adb298388d"
"""Key of an object that stands for a special value; under the key is the kind of the special value."""
SECRET = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105 - the mark of a secret, not one
UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""Text in place of a value that is not known yet and is a string or of unknown type (pulumi/pulumi,
sdk/go/common/resource/plugin/rpc.go).
"""
UNKNOWNS = frozenset(
    {
        UNKNOWN,
        "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",  # boolean
        "3eeb2bf0-c639-47a8-9e75-3b44932eb421",  # number
        "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",  # list
        "030794c1-ac77-496b-92df-f27374a8bd58",  # asset
        "e48ece36-62e2-4504-bad9-02848725956a",  # archive
        "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",  # object
    }
)
OUTPUT = "d0e6a833031e9bbcd3f4e8bde6ca49a4"


def is_secret(value: Any) -> bool:
    return isinstance(value, dict) and cast("dict[str, Any]", value).get(SIGNATURE) == SECRET
