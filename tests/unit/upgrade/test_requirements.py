"""Requirements files of another version: the platform's pins are exchanged, a team's own lines stay."""

from __future__ import annotations

from workbench.upgrade.requirements import exchanged, pinned_hashes

A, B = "a" * 64, "b" * 64
OLD = f"# head\nphysical-ai==0.1.0 \\\n    --hash=sha256:{A}\n# others\npydantic==2.0 \\\n    --hash=sha256:{A}\n"
NEW = f"# head 2\nphysical-ai==0.2.0 \\\n    --hash=sha256:{B}\n# others\npyyaml==6.0 \\\n    --hash=sha256:{B}\n"
OWN = f"--extra-index-url https://example.com\n# for our part\nOur.Package==1.0 \\\n    --hash=sha256:{A}\n"


def test_the_platforms_pins_are_exchanged() -> None:
    assert exchanged(OLD, NEW, ["pydantic"]) == NEW


def test_a_teams_own_lines_stay_with_their_comments_also_the_second_time() -> None:
    once = exchanged(f"{OLD}{OWN}", NEW, ["pydantic"])
    assert once == f"{NEW}# Of this project.\n{OWN}"
    assert exchanged(once, OLD, ["pyyaml"]) == f"{OLD}# Of this project.\n{OWN}"


def test_without_the_old_program_its_own_pins_are_kept_and_shown() -> None:
    assert exchanged(OLD, NEW).startswith(NEW)
    assert "pydantic==2.0" in exchanged(OLD, NEW)


def test_options_that_the_platform_writes_are_not_repeated() -> None:
    assert exchanged("-r requirements.txt\n", "-r requirements.txt\npytest==9\n") == "-r requirements.txt\npytest==9\n"


def test_hashes_are_those_of_the_wanted_packages() -> None:
    assert pinned_hashes(f"{OLD}{OWN}x==1\n", ["physical-ai", "our-package", "x"]) == {
        "physical-ai": A,
        "our-package": A,
    }
