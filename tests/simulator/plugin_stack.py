"""A stack of one resource, with as much of the engine as decides what a user sees of a provider.

Source: pulumi/pulumi 3.259, pkg/resource/deploy/{step,step_generator}.go: an operation that ends with a partial failure
is kept with its reasons and the old inputs; a resource with reasons is updated, also without a difference; a preview
calls the provider as the deployment does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from simulator.wire import NotReady, Provider, Refused, Request, Secret, under

Seen = dict[str, Any]
"""What a user sees of one command: `op`, `paths`, `error`; what is empty is left out."""


def plain(value: Any) -> Any:
    """A value as the engine gives it back: it keeps secrets by itself."""
    if isinstance(value, Secret):
        return plain(value.value)
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


class OneResource:
    """One resource of a program, under `preview`, `up`, `refresh` and `destroy`."""

    def __init__(self, provider: Provider, type: str, hide: Mapping[str, str], timeout: float = 0) -> None:
        """`hide`: parts of texts that differ between runs, with what stands for them."""
        self._provider, self._hide, self.timeout = provider, hide, timeout
        self._type = f"kubernetes:{type}"
        self._id, self.inputs, self.outputs = "", dict[str, Any](), dict[str, Any]()
        self._reasons: list[str] = []

    def preview(self, program: Mapping[str, Any]) -> Seen:
        return self._run(program, preview=True)

    def up(self, program: Mapping[str, Any]) -> Seen:
        return self._run(program, preview=False)

    def refresh(self) -> Seen:
        """What is there now; `paths` are those of the state's inputs that have changed."""
        try:
            self._id, outputs, inputs = self._provider.read(self._request(), self.outputs, self.inputs)
        except NotReady as problem:
            self.outputs, self.inputs = plain(problem.outputs), plain(problem.inputs)
            self._reasons = list(problem.reasons)
            return self._seen("not ready", reasons=problem.reasons)
        except Refused as problem:
            return self._seen("refused", error=str(problem))
        self.outputs, self.inputs, self._reasons = plain(outputs), plain(inputs), []
        return self._seen("read" if self._id else "gone")

    def destroy(self) -> Seen:
        try:
            self._provider.delete(self._request(), self.inputs, self.outputs)
        except (NotReady, Refused) as problem:
            return self._seen("refused", error=str(problem))
        self._id = ""
        return self._seen("deleted")

    def _request(self, *, preview: bool = False) -> Request:
        urn = f"urn:pulumi:dev::demo::{self._type}::thing"
        return Request(urn, self._type, "thing", self._id, preview, self.timeout)

    def _run(self, program: Mapping[str, Any], *, preview: bool) -> Seen:
        request = self._request(preview=preview)
        inputs, failures = self._provider.check(request, self.inputs, dict(program))
        inputs = plain(inputs)
        if failures:
            return self._seen("check", error="; ".join(each.reason for each in failures))
        if not self._id:
            return self._step("create", request, inputs, [])
        diff = self._provider.diff(request, self.inputs, self.outputs, inputs)
        paths = sorted(diff.changes)
        if any(under(path, prefix) for path in paths for prefix in diff.replaces):
            return self._seen("replace", paths=paths)
        if not paths and not self._reasons:
            return self._seen("same")
        return self._step("update", request, inputs, paths)

    def _step(self, op: str, request: Request, inputs: dict[str, Any], paths: list[str]) -> Seen:
        try:
            if op == "create":
                id, outputs = self._provider.create(request, inputs)
            else:
                id, outputs = self._id, self._provider.update(request, self.inputs, self.outputs, inputs)
        except NotReady as problem:
            if not request.preview:
                self._id, self.outputs, self._reasons = problem.id, plain(problem.outputs), list(problem.reasons)
                self.inputs = inputs if op == "create" else self.inputs
            return self._seen(op, paths=paths, reasons=problem.reasons)
        except Refused as problem:
            return self._seen(op, paths=paths, error=str(problem))
        if not request.preview:
            self._id, self.inputs, self.outputs, self._reasons = id, inputs, plain(outputs), []
        return self._seen(op, paths=paths)

    def _seen(self, op: str, paths: Any = (), reasons: Any = (), error: str = "") -> Seen:
        texts = [self._shown(each) for each in reasons]
        found = {"op": op, "paths": list(paths), "reasons": texts, "error": self._shown(error)}
        return {key: value for key, value in found.items() if value}

    def _shown(self, text: str) -> str:
        """The first paragraph, in which everything is the same in each run."""
        text = text.partition("\n\n")[0]
        for part, name in self._hide.items():
            text = text.replace(part, name)
        text = re.sub(r'"thing-[0-9a-f]{8,10}"', '"REVISION"', text)
        return re.sub(r"pulumi-kubernetes-[0-9a-f]{8}", "MANAGER", text)
