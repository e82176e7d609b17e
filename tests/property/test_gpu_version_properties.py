"""Any GPU versions: upgrades go line by line, and severities are in one order."""

from __future__ import annotations

from itertools import pairwise, product

from hypothesis import given
from hypothesis import strategies as st

from physical_ai.catalog import operator_releases
from physical_ai.catalog.compat import judge_upgrade, upgrade_path
from physical_ai.catalog.gpu_lookup import version
from physical_ai.findings import Severity
from tests.support.examples import examples

quick = examples(250)


def test_severity_is_a_total_order() -> None:
    for a, b in product(Severity, Severity):
        assert a.at_least(b) or b.at_least(a)
        assert (a.at_least(b) and b.at_least(a)) == (a == b)
        assert all(a.at_least(c) for c in Severity if a.at_least(b) and b.at_least(c))
    assert Severity.ERROR.at_least(Severity.WARNING)
    assert not Severity.INFO.at_least(Severity.WARNING)


@quick
@given(st.sampled_from(list(operator_releases())), st.sampled_from(list(operator_releases())))
def test_every_step_of_an_upgrade_remains_in_its_line_or_goes_to_the_next(old: str, new: str) -> None:
    lines = list(dict.fromkeys(release.line for release in operator_releases().values()))
    try:
        steps = [old, *upgrade_path(old, new)]
    except ValueError:
        assert version(new) < version(old)
        return
    assert steps[-1] == new
    for a, b in pairwise(steps):
        assert version(a) < version(b)
        assert 0 <= lines.index(operator_releases()[b].line) - lines.index(operator_releases()[a].line) <= 1
        assert not [verdict for verdict in judge_upgrade(a, b) if verdict.severity == "error"]
