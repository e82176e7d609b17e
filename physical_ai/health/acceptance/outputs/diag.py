"""`dcgmi diag -r N -j`: the documents of DCGM 3 (`DCGM GPU Diagnostic`) and of DCGM 4 (`DCGM Diagnostic`)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from physical_ai.health.acceptance.outputs.unrecognised import Unrecognised, last_line

_ROOTS = ("DCGM Diagnostic", "DCGM GPU Diagnostic")
_STATUSES = {"pass": "pass", "fail": "fail", "warn": "warn", "skip": "skip", "skipped": "skip", "not run": "not run"}
"""Statuses of the documents, in lower case."""


@dataclass(frozen=True)
class DiagTest:
    """One test on one GPU, or on the node."""

    name: str
    status: str
    """pass, fail, warn, skip or not run."""
    where: str
    """`GPU 0`; empty for a test of the node."""
    warnings: Sequence[str] = ()


@dataclass(frozen=True)
class Diag:
    version: str
    """Of DCGM; empty where the document has none."""
    tests: Sequence[DiagTest]


def read_diag(text: str) -> Diag:
    """The results. Text around the document is passed over: the host engine prints to the same log.

    Raises:
        Unrecognised: there is no such document, it has no tests, or a status that is not known.
    """
    document = _document(text)
    root: Any = next((document[key] for key in _ROOTS if key in document), None)
    if not isinstance(root, dict):
        raise Unrecognised(f"dcgmi printed no results: {last_line(text)}")
    results = cast("dict[str, Any]", root)
    try:
        tests = [
            found
            for category in results["test_categories"]
            for test in category["tests"]
            for found in _tests(str(test["name"]), test)
        ]
    except (KeyError, TypeError) as problem:
        raise Unrecognised(f"dcgmi's results have another form: {problem}") from problem
    if not tests:
        raise Unrecognised("dcgmi ran no test")
    metadata: dict[str, Any] = document.get("metadata") or results
    return Diag(str(metadata.get("version", "")), tests)


def _document(text: str) -> dict[str, Any]:
    start = text.find("{")
    try:
        found: Any = json.JSONDecoder().raw_decode(text[start:])[0] if start >= 0 else None
    except ValueError as problem:
        raise Unrecognised(f"dcgmi's document is incomplete: {problem}") from problem
    if not isinstance(found, dict):
        raise Unrecognised(f"dcgmi printed no document: {last_line(text)}")
    return cast("dict[str, Any]", found)


def _tests(name: str, test: dict[str, Any]) -> list[DiagTest]:
    """Each result of a test. DCGM 4 has a summary beside them, which may be the only verdict."""
    given: list[dict[str, Any]] = list(test.get("results") or [])
    summary = test.get("test_summary")
    if summary and not any(_status(each) == _status(summary) for each in given):
        given.append(summary)
    return [DiagTest(name, _status(each), _where(each), _warnings(each)) for each in given]


def _status(result: dict[str, Any]) -> str:
    given = str(result["status"])
    if given.lower() not in _STATUSES:
        raise Unrecognised(f"dcgmi reports the status '{given}', which is not known")
    return _STATUSES[given.lower()]


def _where(result: dict[str, Any]) -> str:
    if "entity_id" in result:
        return f"{result.get('entity_group', 'GPU')} {result['entity_id']}"
    gpus = result.get("gpu_ids", result.get("gpu_id", ""))
    return f"GPU {gpus}" if gpus != "" else ""


def _warnings(result: dict[str, Any]) -> list[str]:
    given: Any = result.get("warnings") or []
    entries: list[Any] = cast("list[Any]", given) if isinstance(given, list) else [given]
    return [
        str(cast("dict[str, Any]", each).get("warning", "")) if isinstance(each, dict) else str(each)
        for each in entries
    ]
