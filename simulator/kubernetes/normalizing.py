"""Normalization of inputs and objects before the provider compares them. Pure functions.

Source: pulumi-kubernetes, provider/pkg/clients/unstructured.go and provider/pkg/kinds/kinds.go, 2026-07-01.
"""

from __future__ import annotations

import base64
import binascii
from typing import Any, cast

from simulator.kubernetes.objects import BUILT_IN_GROUPS, Object, gvk_of, is_secret, without_read_only
from simulator.wire import has_unknown

_KNOWN_GROUPS = BUILT_IN_GROUPS | {"resource.k8s.io", "storagemigration.k8s.io"}


def is_known(obj: Object) -> bool:
    """True if the official plugin has Go types for the object's kind.

    The plugin compares objects of such kinds by value, and all other objects as they are written.
    """
    return gvk_of(obj).group in _KNOWN_GROUPS


def normalized(obj: Object) -> Object:
    """The object without fields that only the server sets.

    A Secret whose values are all known gets `data` in place of `stringData`.
    """
    kept = without_read_only(obj)
    if not is_secret(kept) or has_unknown(kept):
        return kept
    texts = kept.get("stringData")
    data = kept.get("data")
    if isinstance(texts, dict) and texts:
        coded = {key: _coded(str(text)) for key, text in cast("Object", texts).items()}
        known = cast("Object", data) if isinstance(data, dict) else {}
        return {**{key: value for key, value in kept.items() if key != "stringData"}, "data": {**known, **coded}}
    if isinstance(data, dict):
        return {**kept, "data": {key: _recoded(value) for key, value in cast("Object", data).items()}}
    return kept


def _coded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _recoded(value: Any) -> Any:
    """The value in the base64 form that the API server returns. A text that is not valid base64 is returned unchanged;
    the API server refuses such a text.
    """
    try:
        return base64.b64encode(base64.b64decode(value, validate=True)).decode() if isinstance(value, str) else value
    except (binascii.Error, ValueError):
        return value
