"""Sources of facts are whole: in YAML an unquoted ` #` begins a comment, which cuts `Azure/AKS#1, #2` off."""

from __future__ import annotations

import re

from physical_ai.repository import ROOT

CUT_OFF = re.compile(r"^\s*(?:- )?source: [^\"'>|{\s][^\n]* #", re.MULTILINE)


def test_no_source_is_cut_off_by_a_comment() -> None:
    folders = (ROOT / name for name in ("parts", "physical_ai", "simulator", "workbench"))
    files = [path for folder in folders for path in folder.rglob("*.yaml") if CUT_OFF.search(path.read_text())]
    assert files == []


def test_a_source_that_is_cut_off_is_found() -> None:
    assert CUT_OFF.search("- name: a\n  source: Azure/AKS#1, #2\n")
    assert not CUT_OFF.search('  source: "Azure/AKS#1, #2"\n')
