"""What a file can make a command print: nothing that a terminal or a pipeline obeys."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml
from rich.console import Console
from rich.table import Table
from rich.text import Text

from physical_ai.untrusted.text import inert, inert_json
from tests.support.cases import in_one_test
from workbench.cli import console
from workbench.cli.main import run
from workbench.cli.preview import markdown

HOSTILE = [
    "::error::x",
    "  ::set-output name=a::b",
    "a\n::add-mask::x",
    "a\r::stop-commands::x",
    "\u00a0::error::x",
    "\ufeff::error::x",
    "x ##[error]y",
    "##vso[task.setvariable variable=a]b",
    "\x1b]0;title\x07",
    "\x9b31m",
    "\u202eabc",
    "a\u2028::error::b",
    "\udcff",
]


def obeyed(text: str) -> list[str]:
    """Lines of a log that GitHub's or Azure's runner, or a terminal, would act on."""
    lines = re.split(r"[\r\n]", text)
    wrong = [line for line in lines if line.strip().startswith("::") or re.search(r"##\w*\[", line)]
    return wrong + [line for line in lines if not line.isprintable()]


@in_one_test("text", HOSTILE)
def test_no_text_is_obeyed(text: str) -> None:
    assert obeyed(text)
    assert obeyed(inert(text)) == []
    document = inert_json(json.dumps({"key": text}, ensure_ascii=False, indent=2))
    assert obeyed(document) == []
    assert json.loads(document) == {"key": text}


def test_ordinary_text_stays_as_it_is() -> None:
    text = "# Überschrift · 5 × 6\n  a::b, ## c [d]\n| → |\n"
    assert inert(text) == text
    assert inert_json(text) == text


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("name", ["out", "err"])
def test_consoles_print_no_text_that_is_obeyed(text: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    stream: Console = getattr(console, name)
    table = Table("a", "b", box=None)
    table.add_row(text, text)
    for each in (text, f"{'word ' * 39}{text}", table):
        stream.print(each, markup=False)
    stream.print(Text.assemble(" ", (":", "red"), (":error::x", "green")))
    captured = capsys.readouterr()
    assert obeyed(captured.out + captured.err) == []


def workflow(folder: Path, text: str) -> Path:
    """A workflow with the text in everything that is printed, in a file with the text in its name."""
    name = json.dumps(text.replace("\udcff", "\u00ff"))
    file = folder / "a\n::error::b \x1b[31m\udcff ##[error] w.yaml"
    file.write_text(f"""workflow:
  name: w
  {name}: 1
  resources:
    default: {{platform: cpu, cpu: 1, memory: 4Gi, storage: 10Gi}}
  tasks:
  - name: t
    image: {name}
    command: [x]
    args: [{name}]
    environment: {{A: {name}}}
    files: [{{path: /srv/x, contents: {name}}}, {{path: /srv/y, localpath: {name}}}]
""")
    return file


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    """A folder for each text: one command checks the files of all."""
    made = [tmp_path / str(number) for number in range(len(HOSTILE))]
    for each in made:
        each.mkdir()
    return made


@pytest.mark.parametrize("options", [[], ["--json"], ["--format", "github"]], ids=" ".join)
def test_findings_are_not_obeyed(options: list[str], folders: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(workflow(folder, text)) for folder, text in zip(folders, HOSTILE, strict=True)]
    assert run(["lint", *files, *options]) == 3
    captured = capsys.readouterr()
    own = [line for line in captured.out.splitlines() if line.startswith(("::error file=", "::warning file="))]
    assert bool(own) == ("github" in options)
    assert [line for line in obeyed(captured.out + captured.err) if line not in own] == []
    assert all(line.isprintable() for line in own)
    shown = captured.out + captured.err
    assert [folder for folder in folders if str(folder) not in shown.replace("\n", "")] == []


def test_objects_are_not_obeyed_and_say_the_same(folders: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    texts = [text.replace("\udcff", "\u00ff") for text in HOSTILE]
    files: list[str] = []
    for folder, text in zip(folders, texts, strict=True):
        file = workflow(folder, text)
        bad = (f"{json.dumps(text)}: 1", f"localpath: {json.dumps(text)}", f"image: {json.dumps(text)}")
        written = file.read_text().replace(bad[0], "backend: x", 1).replace(bad[1], "contents: y")
        file.write_text(written.replace(bad[2], "image: registry.example/x:1"))
        files.append(str(file))
    assert run(["lint", *files, "--objects"]) == 3
    captured = capsys.readouterr()
    assert obeyed(captured.out + captured.err) == []
    pods = [item for item in yaml.safe_load_all(captured.out) if item["kind"] == "Pod"]
    given = [pod["spec"]["containers"][0]["env"] for pod in pods]
    assert len(given) == len(texts)
    assert [text for text, env in zip(texts, given, strict=True) if {"name": "A", "value": text} not in env] == []


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ask @octocat", "ask @\u200boctocat"),
        ("&#64;octocat &commat;octocat", "&amp;#\u200b64;octocat &amp;commat;octocat"),
        (".@octocat /@octocat ä@octocat", ".@\u200boctocat /@\u200boctocat ä@\u200boctocat"),
        ("`x`@octocat", "`x`@\u200boctocat"),
        ("a@example.com, R&D", "a@example.com, R&D"),
    ],
)
def test_comments_mention_no_one(text: str, shown: str) -> None:
    assert markdown.text(text) == shown
