"""What is said while tools are downloaded and built."""

from __future__ import annotations

from simulator.tools import Progress
from simulator.tools.reporting import ToolLines


def _lines(*, regular: bool) -> tuple[ToolLines, list[str], list[float]]:
    said, now = list[str](), [0.0]
    return ToolLines(said.append, regular=regular, clock=lambda: now[0]), said, now


def test_a_build_reports_reason_progress_and_remaining_time() -> None:
    lines, said, now = _lines(regular=True)
    lines.report(Progress("pulumi", "build", 0, 0, "no checksum is pinned"))
    for now[0], done in ((10, 100), (31, 310), (45, 450), (62, 620)):
        lines.report(Progress("pulumi", "build", done, 1240))
    assert lines.share == 0.5
    now[0] = 124
    lines.report(Progress("pulumi", "build", 1240, 1240, finished=True))
    assert said == [
        "building pulumi from its Go module: no checksum is pinned",
        "building pulumi: 310 of at most 1240 packages (25%), about 2 min left",
        "building pulumi: 620 of at most 1240 packages (50%), about 62 s left",
        "built pulumi in 2 min",
    ]
    assert lines.current() == ""
    assert lines.share is None


def test_on_a_terminal_the_share_is_shown_and_not_printed() -> None:
    lines, said, now = _lines(regular=False)
    for now[0], done in ((0, 0), (31, 5_000_000), (62, 10_000_000)):
        lines.report(Progress("helm", "download", done, 20_000_000))
    assert said == ["downloading helm from its project's release"]
    assert lines.current() == "downloading helm: 10 MB of 20 MB (50%), about 62 s left"


def test_an_unknown_total_gives_no_share() -> None:
    lines, _, _ = _lines(regular=False)
    lines.report(Progress("helm", "download", 5_000_000, 0))
    assert lines.current() == "downloading helm: 5 MB"
    assert lines.share is None
