"""Templates that are not trusted: what they reach, and what they may take."""

from __future__ import annotations

import multiprocessing

import pytest

from tests.support.cases import in_one_test
from workbench.osmo.refusal import CRASH, Refusal
from workbench.osmo.workflow.sandbox import OSMO, render

ESCAPES = [
    "{{ ''.__class__.__mro__ }}",
    "{{ cycler.__init__.__globals__.os.environ }}",
    "{{ lipsum.__globals__['os'].popen('id').read() }}",
    "{{ self._TemplateReference__context.environment }}",
    "{{ text|attr('\\x5f\\x5fclass\\x5f\\x5f') }}",
    "{{ '{0.__init__.__globals__}'.format(lipsum) }}",
    "{{ '{x.__class__}'.format_map({'x': 1}) }}",
    "{{ [text]|unique(attribute='__class__')|list }}",
    "{{ items.__setitem__(0, 9) }}",
    "{{ open('/etc/passwd').read() }}",
    "{% include '/etc/passwd' %}",
    "{% import 'os' as os %}",
]


@in_one_test("template", ESCAPES)
def test_a_template_reaches_nothing_but_its_variables(template: str) -> None:
    with pytest.raises(Refusal) as refused:
        render(template, {"text": "abc", "items": [1]}, OSMO)
    assert refused.value.kind == "OSMOUsageError"


def test_memory_is_limited() -> None:
    with pytest.raises(Refusal, match="more than 100 MiB"):
        render("{{ 'a' * 10**9 }}", {}, OSMO)


def test_an_error_that_osmo_does_not_expect_is_a_crash() -> None:
    with pytest.raises(Refusal, match="OSMO would crash here") as refused:
        render("a\n{% for i in range(10**9) %}{% endfor %}", {}, OSMO)
    assert (refused.value.kind, refused.value.line) == (CRASH, 2)


def test_no_process_is_left() -> None:
    assert render("{{ a }}", {"a": 1}, OSMO)[0] == "1"
    assert multiprocessing.active_children() == []
