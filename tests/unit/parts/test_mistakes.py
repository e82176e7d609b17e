"""Mistakes in the folder of a part: each ends in a message with file, key and what to write, and never in a traceback.

Each mistake is made in a copy of the tree in which a made-up part is complete.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import pytest
from _pytest.mark.structures import ParameterSet

from tests.support.part_copy import COLD, WARM, PartCopy, part_copy

RULES = '''"""Rules about the settings of the part."""


def rule(settings, trust):
    """Findings about the settings."""
    return iter(())
'''


@dataclass(frozen=True)
class Mistake:
    """A change of one file of a part, with the place and the advice that the message has to have."""

    file: str
    before: str
    """Text that is replaced; empty for a new file."""
    after: str
    place: str
    advice: str

    def __str__(self) -> str:
        return f"{self.file}-{self.after.strip()[:40]}"


MODULES = [
    Mistake("traces/model.py", "class Traces(Model):", "class Traces(Model)", "model.py:21: syntax", "Correct it: cl"),
    Mistake("traces/model.py", "class Traces", "class Trace", "model.py: Traces", "Did you mean 'Trace'?"),
    Mistake("traces/model.py", "import Model", "import Modle", "model.py:9: Modle", "Did you mean 'Model'?"),
    Mistake("slurm/names.py", "\nNAMESPACE", "\nX = QQQ\nNAMESPACE", ":8: QQQ\n", "Correct the line: X = QQQ"),
    Mistake("made_up/model.py", "SETTINGS =", "SETTING =", "model.py: SETTING\n", "Did you mean SETTINGS?"),
    Mistake("made_up/model.py", "SETTINGS = MadeUp", "SETTINGS = 3", "model.py: SETTINGS\n", "Write SETTINGS = and"),
    Mistake("made_up/model.py", '"""\n\n\nS', '"""\n\n    size: integer = 3\n\n\nS', "MadeUp\n", "such as int, str"),
    Mistake("made_up/plan.py", "parts.part import", "parts.pard import", "plan.py:9: parts.pard", "'part'?"),
    Mistake("made_up/plan.py", "chart(CHART)", "chart(CHRT)", "plan.py:29: CHRT", "Did you mean 'CHART'?"),
    Mistake("made_up/plan.py", "chart(CHART)", 'chart("made-ip")', "plan.py: chart", "Did you mean 'made-up'?"),
    Mistake("made_up/plan.py", "parts.of(MadeUp)", "parts.made_ip", "plan.py:22: made_ip", "Did you mean 'made_up'?"),
    Mistake("made_up/plan.py", "(settings))\n", "())\n", "plan.py:30: made_up_plan", "Correct the line: values, faul"),
    Mistake(
        "made_up/plan.py",
        "return services",
        'return {"tolerationz": []} | services',
        "plan.py:37: tolerationz",
        "tolerations?",
    ),
    Mistake("made_up/plan.py", '"nodeSelector"', '"nodeSelectr"', "part.py: owned", "Did you mean 'nodeSelector'?"),
    Mistake("made_up/plan.py", "-values.yaml", "-value.yaml", "plan.py: file", "Write made-up-values.yaml."),
    Mistake(
        "made_up/plan.py", "(NAMESPACE,)", "NAMESPACE", "made_up_plan: namespaces", 'Write namespaces=("made-up",)'
    ),
    Mistake("made_up/plan.py", "((release,))", "(release)", "made_up_plan: releases", "Write releases=(…,)."),
    Mistake("made_up/plan.py", ")), faults", "))", "plan.py: made_up_plan", "Return the plan, or None, and a list"),
    Mistake("made_up/part.py", "stage=", "stag=", "part.py:9: stag", "Correct the line: PART = Part("),
    Mistake(
        "made_up/part.py", "wanted=is_wanted", "wanted=True", "part.py: wanted", "Write the name of a function of (s"
    ),
    Mistake("made_up/part.py", "{CHART: OWNED}", "{CHART}", "part.py: owned", "Write owned={"),
    Mistake("made_up/part.py", "PART = Part", "PAT = Part", "part.py: PART", "Write PART = Part(…)"),
    Mistake(
        "made_up/part.py", "PART = ", "from parts.made_up import name\nPART = ", "part.py:9: name", "made_up/name.py"
    ),
    Mistake(
        "made_up/part.py", '="physical-ai:kubernetes:MadeUp"', '="MadeUp"', "part.py: resource_type", "three words"
    ),
    Mistake("made_up/rules.py", "iter(())", "iter((1,))", "rules.py: rule", "Yield what physical_ai.settings.rules"),
    Mistake("made_up/rules.py", "iter(())", "settings.nothing", "rules.py:6: nothing", "Correct the line: return"),
    Mistake(
        "made_up/rules.py", "(settings, trust)", "(settings)", "part.py: rules", "Write its parameters: (settings,"
    ),
    Mistake("made_up/part.py", "rules=(rule,)", "rules=rule", "part.py: rules", "Write rules=(rule,)."),
]
DATA = [
    Mistake(
        "made_up/components.py", "", "COMPONENT = 1\n", "components.py: COMPONENT", "Name the module component.py."
    ),
    Mistake("made_up/isolations.yaml", "", "a: 1\n", "isolations.yaml: (name)", "Did you mean 'isolation.yaml'?"),
    Mistake("made_up/made-up-note.yaml", "", "[]\n", "note.yaml: (name)", "Did you mean 'made-up-notes.yaml'?"),
    Mistake("made_up/zz.json", "", "{}\n", "zz.json: (name)", "Name it in a module that reads it, or remove it."),
    Mistake("made_up/charts.yaml", "name: made-up", "name: made-ip", "charts.yaml: made-up", "Did you mean 'made-ip'"),
    Mistake("made_up/charts.yaml", "- name:", "- nam:", "charts.yaml: ?: nam", "Did you mean 'name'?"),
    Mistake("made_up/charts.yaml", "repository:", "repositry:", "made-up: repositry", "Did you mean 'repository'?"),
    Mistake("made_up/charts.yaml", "  versions:", "  versoins:", "made-up: versoins", "Did you mean 'versions'?"),
    Mistake("made_up/charts.yaml", "  compared:", "  compard:", "made-up: compard", "Did you mean 'compared'?"),
    Mistake("made_up/charts.yaml", "known:", "knwon:", "made-up 1.2.3: knwon", "Did you mean 'known'?"),
    Mistake(
        "made_up/charts.yaml",
        "- versions: [1.2.3]",
        "- versions: [1.2.4]",
        "made-up: compared",
        "Did you mean '1.2.3'?",
    ),
    Mistake("made_up/charts.yaml", "how: nothing", "how: nothin", "chart made-up: how", "'documented' or 'nothing'"),
    Mistake("made_up/charts.yaml", "against:", "agains:", "chart made-up: agains", "Did you mean 'against'?"),
    Mistake("made_up/charts.yaml", "- name", "name", "charts.yaml:4: ", "mapping values are not allowed"),
    Mistake("made_up/made-up-keys.yaml", "sections:", "setions:", "keys.yaml: setions", "Did you mean 'sections'?"),
    Mistake("made_up/made-up-keys.yaml", "values:", "valeus:", "sections..valeus", "Did you mean 'values'?"),
    Mistake("made_up/made-up-keys.yaml", "read: [1.2.3]", "read: [1.2.4]", "keys.yaml: read", "Write read: [1.2.3]"),
    Mistake(
        "made_up/made-up-values.yaml", "resources: {}", "resource: {}", "values.yaml:4: resource", "mean resources?"
    ),
    Mistake(
        "made_up/namespaces.yaml", "enforce: rest", "enforc: rest", "made-up: metadata.labels.pod-", "restricted, ba"
    ),
    Mistake(
        "made_up/namespaces.yaml", "name: made-up", "name: made-upp", "namespaces.yaml: made-up", "Write a Namespace"
    ),
    Mistake("made_up/switches.yaml", "", "- {chart: made-ip}\n", "switches.yaml: keys", "The key is missing."),
    Mistake(
        "made_up/switches.yaml",
        "",
        "- {chart: made-ip, keys: [a], source: a, date: 2026-11-28}\n",
        "switches.yaml: made-ip",
        "Did you mean 'made-up'?",
    ),
    Mistake(
        "made_up/isolation.yaml",
        "",
        "kind: NetworkPolicy\nmetadata: {name: a, namespace: made-ip}\n"
        "spec: {podSelector: {}, policyTypes: [Egress]}\n",
        "isolation.yaml: a: metadata.namespace",
        "Did you mean 'made-up'?",
    ),
    Mistake(
        "made_up/alerts.yaml", "", "rule: []\ntheme: a\n", "alerts.yaml: rules", "'rule' is no key here: write rules."
    ),
]


def some(mistakes: Sequence[Mistake]) -> list[ParameterSet]:
    """Mistakes as parameters of a test. Five of six are tried with the deep tests only, since each loads the program
    again.
    """
    return [
        pytest.param(each, marks=pytest.mark.deep if place % 6 else (), id=str(each))
        for place, each in enumerate(mistakes)
    ]


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Generator[PartCopy]:
    """A complete part, listed, with a rule."""
    with part_copy(tmp_path_factory.mktemp("tree")) as made:
        made.listed()
        made.filled()
        (made.folder / "rules.py").write_text(RULES)
        part = made.folder / "part.py"
        text = part.read_text().replace(
            "\nfrom parts.part ", "\nfrom parts.made_up.rules import rule\nfrom parts.part "
        )
        part.write_text(text.replace('stage="cluster",', 'stage="cluster",\n    rules=(rule,),'))
        yield made


def message(copy: PartCopy, mistake: Mistake, loaded: tuple[str, ...]) -> str:
    file = copy.parts / mistake.file
    kept = file.read_text() if file.exists() else None
    assert mistake.before in (kept or "")
    file.write_text((kept or "").replace(mistake.before, mistake.after, 1) if mistake.before else mistake.after)
    try:
        code, text = copy.answer("explain", "dev-westus2", "parts.madeUp", loaded=loaded)
    finally:
        if kept is None:
            file.unlink()
        else:
            file.write_text(kept)
    assert (code, "Traceback" in text) == (2, False), text
    return text


def test_the_part_without_a_mistake_has_none(copy: PartCopy) -> None:
    assert copy.answer("explain", "dev-westus2", "parts.madeUp", loaded=WARM)[0] == 0


@pytest.mark.parametrize("mistake", some(MODULES))
def test_a_mistake_in_a_module_is_named_with_its_place(copy: PartCopy, mistake: Mistake) -> None:
    text = message(copy, mistake, COLD)
    assert f"parts/{mistake.file.partition('/')[0]}/" in text
    assert mistake.place in text
    assert mistake.advice in text


@pytest.mark.parametrize("mistake", some(DATA))
def test_a_mistake_in_a_file_of_data_is_named_with_its_key(copy: PartCopy, mistake: Mistake) -> None:
    text = message(copy, mistake, WARM)
    assert f"parts/{mistake.file.partition('/')[0]}/" in text
    assert mistake.place in text
    assert mistake.advice in text
