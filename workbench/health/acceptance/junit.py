"""Results of acceptance as JUnit XML: a test suite for each node, and a test case for each check."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from workbench.health.acceptance.record import CheckResult, NodeResult


def junit(results: Sequence[NodeResult]) -> str:
    """The results as a JUnit XML document.

    A failed check is a JUnit failure; a check without a verdict is a JUnit error.
    """
    root = Element("testsuites", name="physai accept")
    for result in results:
        counts = {
            kind: sum(each.verdict == kind for each in result.checks) for kind in ("failed", "no-verdict", "skipped")
        }
        suite = SubElement(
            root,
            "testsuite",
            name=result.node,
            tests=str(len(result.checks)),
            failures=str(counts["failed"]),
            errors=str(counts["no-verdict"]),
            skipped=str(counts["skipped"]),
            timestamp=result.time.isoformat(),
        )
        properties = SubElement(suite, "properties")
        for key, value in (("pool", result.pool), ("sku", result.sku), ("level", result.level)):
            SubElement(properties, "property", name=key, value=value)
        for each in result.checks:
            _case(suite, result, each)
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'


def _case(suite: Element, result: NodeResult, each: CheckResult) -> None:
    case = SubElement(suite, "testcase", classname=f"{result.pool}.{result.node}", name=each.check)
    kind = {"failed": "failure", "no-verdict": "error", "skipped": "skipped"}.get(each.verdict)
    if kind is not None:
        SubElement(case, kind, message=_printable(each.message))
    elif each.measured:
        SubElement(case, "system-out").text = "\n".join(f"{key} {value:g}" for key, value in each.measured.items())


def _printable(text: str) -> str:
    """The text with a blank for each unprintable character, because XML allows no control characters."""
    return "".join(char if char.isprintable() else " " for char in text)
