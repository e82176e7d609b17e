"""Times of the tests of parts, with a made-up folder of tests."""

from __future__ import annotations

from pathlib import Path

from docs.generator.part_times import part_times


def test_each_part_with_tests_is_measured(tmp_path: Path) -> None:
    for name, text in (
        ("passing", "def test_a(): pass\ndef test_b(): pass\n"),
        ("failing", "def test_a(): assert 0\n"),
    ):
        folder = tmp_path / "tests" / "unit" / "parts" / name
        folder.mkdir(parents=True)
        (folder / f"test_{name}.py").write_text(text)
    passing, failing = part_times(tmp_path, ["passing", "without_tests", "failing"])
    assert (passing.part, passing.tests) == ("passing", 2)
    assert (failing.part, failing.tests) == ("failing", 0)
    assert passing.processor > 0
    assert passing.wall > 0
