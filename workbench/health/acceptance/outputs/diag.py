"""Reader of the JSON of `dcgmi diag -r N -j` from DCGM 3 and DCGM 4 (NVIDIA/DCGM dcgmi/Diag.cpp of v3.3.9 and v4.6.0).

DCGM leaves out the results of tests that it did not run. DCGM 3 writes `null` into a list for a GPU on which a test did
not run. DCGM 4 writes only the name of a test that did not run at all.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from grid_agent.report.plain import plain
from workbench.health.acceptance.outputs.unrecognised import Unrecognised, last_line

_ROOTS = ("DCGM Diagnostic", "DCGM GPU Diagnostic")
_STATUSES = {"pass": "pass", "fail": "fail", "warn": "warn", "skip": "skip", "skipped": "skip", "not run": "not run"}
"""Status of `DiagTest` for each status in DCGM's JSON (in lower case)."""
_RAN = ("pass", "warn", "fail")
_NAMES = {"gpu_memory": "memory"}
"""Names of tests in DCGM 3 that differ from those in DCGM 4 after both are put in lower case."""
_START = re.compile(r'\{(?=\s*")')
MOST_STARTS = 1000
"""Largest number of braces in the log that are tried as the beginning of the JSON document."""


@dataclass(frozen=True)
class DiagTest:
    """Result of one test on one GPU, or on the whole node."""

    name: str
    status: str
    """`pass`, `fail`, `warn`, `skip` or `not run`."""
    where: str
    """GPU of the result, such as `GPU 0`; empty for a test of the whole node."""
    warnings: Sequence[str] = ()


@dataclass(frozen=True)
class Diag:
    version: str
    """Version of DCGM; empty if the document has none."""
    tests: Sequence[DiagTest]

    def gpus_of(self, test: str) -> set[str]:
        """Numbers of the GPUs on which a test ran, whatever its result."""
        found = [each for each in self.tests if spelled(each.name) == test and each.status in _RAN]
        return {gpu for each in found if each.where.startswith("GPU ") for gpu in re.findall(r"\d+", each.where[4:])}


def spelled(name: str) -> str:
    """A test's name as DCGM 4 spells it, for example memory_bandwidth for DCGM 3's `Memory Bandwidth`."""
    common = "_".join(name.lower().split())
    return _NAMES.get(common, common)


def read_diag(text: str) -> Diag:
    """The results of a diagnostic. Other text in the log, which the host engine may print, is skipped.

    Raises:
        Unrecognised: there is no JSON of dcgmi, dcgmi could not run, or its form or a status is unknown.
    """
    document = _document(text)
    root: Any = next((document[key] for key in _ROOTS if key in document), None)
    if not isinstance(root, dict):
        raise Unrecognised(f"dcgmi printed no results: {last_line(text)}")
    results = cast("dict[str, Any]", root)
    if results.get("runtime_error"):
        raise Unrecognised(f"dcgmi could not run its tests: {plain(str(results['runtime_error']))}")
    tests = [
        found
        for category in _entries(results, "test_categories")
        for test in _entries(category, "tests")
        for found in _tests(_name(test), test)
    ]
    if not tests:
        raise Unrecognised("dcgmi ran no test")
    metadata: Any = document.get("metadata")
    places = [cast("dict[str, Any]", each) for each in (metadata, results, document) if isinstance(each, dict)]
    return Diag(next((plain(str(each["version"])) for each in places if each.get("version")), ""), tests)


def _document(text: str) -> dict[str, Any]:
    """The first JSON object in the text that is a document of dcgmi; other objects may come before it."""
    decoder, problem = json.JSONDecoder(object_pairs_hook=_once), ""
    for start in list(_START.finditer(text))[:MOST_STARTS]:
        try:
            found: Any = decoder.raw_decode(text, start.start())[0]
        except (ValueError, RecursionError) as wrong:
            problem = problem or (str(wrong) if any(root in text[start.start() :] for root in _ROOTS) else "")
            continue
        if any(root in found for root in _ROOTS):
            return cast("dict[str, Any]", found)
    raise Unrecognised(
        f"dcgmi's document is incomplete: {plain(problem)}"
        if problem
        else f"dcgmi printed no document: {last_line(text)}"
    )


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """JSON object from its pairs of key and value, for `json.loads`. Raises ValueError for a repeated key, because
    Python would keep only the last value.
    """
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("an object has a duplicate key")
    return found


def _entries(parent: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    """The objects of the list `parent[key]`, without its `null` entries. Raises Unrecognised if there
    is no such list.
    """
    given: Any = parent.get(key)
    if not isinstance(given, list):
        raise Unrecognised(f"dcgmi's results have another form: '{key}' is {_kind(given)}, not a list")
    return [_object(each, key) for each in cast("list[Any]", given) if each is not None]


def _object(given: Any, key: str) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise Unrecognised(f"dcgmi's results have another form: '{key}' has {_kind(given)}, not objects")
    return cast("dict[str, Any]", given)


def _kind(given: Any) -> str:
    return "not there" if given is None else plain(json.dumps(given), 40)


def _name(test: Mapping[str, Any]) -> str:
    given: Any = test.get("name")
    if not isinstance(given, str) or not given.strip():
        raise Unrecognised(f"dcgmi's results have another form: a test's name is {_kind(given)}")
    return plain(given, 80)


def _tests(name: str, test: Mapping[str, Any]) -> list[DiagTest]:
    """Results of one test. The summary that DCGM 4 writes is added if no other result has the summary's status."""
    given = _entries(test, "results") if test.get("results") is not None else []
    summary = test.get("test_summary")
    if summary is not None and not any(_status(each) == _status(_object(summary, "test_summary")) for each in given):
        given.append(_object(summary, "test_summary"))
    if not given:
        return [DiagTest(name, "not run", "")]
    return [DiagTest(name, _status(each), _where(each), _warnings(each)) for each in given]


def _status(result: Mapping[str, Any]) -> str:
    given = result.get("status")
    if not isinstance(given, str) or given.lower() not in _STATUSES:
        raise Unrecognised(f"dcgmi reports the status {_kind(given)}, which is not known")
    return _STATUSES[given.lower()]


def _where(result: Mapping[str, Any]) -> str:
    if "entity_id" in result:
        return plain(f"{result.get('entity_group', 'GPU')} {result['entity_id']}", 40)
    gpus = result.get("gpu_ids", result.get("gpu_id", ""))
    return plain(f"GPU {gpus}", 40) if gpus not in ("", None) else ""


def _warnings(result: Mapping[str, Any]) -> list[str]:
    """Warnings of a result as texts.

    DCGM writes one text, a list of texts, or a list of objects. In an object, the text has the key `warning`, or
    `warnings` in DCGM 3's deployment tests.
    """
    given: Any = result.get("warnings") or []
    entries: list[Any] = cast("list[Any]", given) if isinstance(given, list) else [given]
    texts: list[str] = []
    for each in entries:
        if isinstance(each, dict):
            own = cast("dict[str, Any]", each)
            texts.append(plain(str(own.get("warning") or own.get("warnings") or "")))
        elif each is not None:
            texts.append(plain(str(each)))
    return [text for text in texts if text]
