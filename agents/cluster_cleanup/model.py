"""Models of the clean-up: remains of a stack, the cluster before it, and requests to the API server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol


class Requests(Protocol):
    def request(self, method: str, path: str, body: Any = None) -> Any: ...


@dataclass(frozen=True)
class Wanted:
    """Remains that the stack may have left.

    Attributes:
        definitions: names of CustomResourceDefinitions that its charts bring.
        remains: by definition, patterns of the names of objects that its releases leave.
        labels: patterns of label keys that the GPU Operator sets on nodes.
        annotations: the same of annotations.
        operator: definition of the object without which no GPU Operator labels nodes.
        webhooks: by definition, `mutatingwebhookconfigurations/NAME` or `validatingwebhookconfigurations/NAME` that an
            operator keeps for an object of it. Without that operator they refuse what they are asked about.
        nodes: by node, the `labels` and `annotations` that its class gives, with their values, and the `taints`, as
            `key=value:Effect`.
        own_taints: taints with a name of the program's own, which go from every node, recorded or not.
    """

    definitions: Sequence[str]
    remains: Mapping[str, Sequence[str]]
    labels: Sequence[str]
    annotations: Sequence[str]
    operator: str
    webhooks: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    nodes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    own_taints: Sequence[str] = ()


@dataclass(frozen=True)
class Found:
    """The cluster as it was before the stack: definitions, and keys of labels and annotations by node.

    Attributes:
        taints: of each node, as `key=value:Effect`. None in the record of a stack that was first deployed when taints
            and the labels of classes were not recorded: then those are not known to be the stack's own.
    """

    definitions: Sequence[str]
    labels: Mapping[str, Sequence[str]]
    annotations: Mapping[str, Sequence[str]]
    taints: Mapping[str, Sequence[str]] | None = None
