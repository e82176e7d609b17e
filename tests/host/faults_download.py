"""Faults on the way of an installer to the node, and of the disk it goes to."""

from __future__ import annotations

import shutil

from tests.host.faults import Fault, inject, remove
from tests.host.harness import HOME, Harness
from tests.host.installers import intruder
from tests.host.mirror import Trouble


def _trouble(trouble: Trouble, *first: Trouble):
    def act(harness: Harness) -> None:
        harness.mirror.trouble = trouble
        harness.mirror.first = list(first)

    return act


def _mirror_stops(harness: Harness) -> None:
    harness.mirror.stop()


def _mirror_starts(harness: Harness) -> None:
    harness.mirror.start()


def _resumed(harness: Harness) -> None:
    starts = [wanted for _, wanted in harness.mirror.requests if wanted]
    assert any(not wanted.startswith("bytes=0-") for wanted in starts), harness.mirror.requests


def _intruder_on_the_mirror(harness: Harness) -> None:
    harness.mirror.files[harness.new.name] = intruder()


def _right_file_on_the_mirror(harness: Harness) -> None:
    harness.mirror.files[harness.new.name] = harness.new.content


def _nothing_cached(harness: Harness) -> None:
    kept = harness.node.path(f"{HOME}/cache").glob("*.run")
    assert all(path.stem == harness.new.sha256 and path.read_bytes() == harness.new.content for path in kept)


def _two_urls(harness: Harness) -> None:
    harness.want(urls=["http://127.0.0.1:9/mirror.run", harness.mirror.url(harness.new.name)])


def _wrong_then_right(harness: Harness) -> None:
    harness.mirror.files["other.run"] = intruder()
    harness.want(urls=[harness.mirror.url("other.run"), harness.mirror.url(harness.new.name)])


def _nowhere(harness: Harness) -> None:
    harness.want(urls=["http://no-such-host.invalid/driver.run"])


def _somewhere(harness: Harness) -> None:
    harness.want()


def _no_checksum(harness: Harness) -> None:
    harness.want(sha256="")


def _planted(mode: int):
    def act(harness: Harness) -> None:
        harness.node.write(f"{HOME}/cache/{harness.new.sha256}.run", intruder(), mode=0o755)
        harness.node.path(HOME).chmod(mode)
        harness.node.path(f"{HOME}/cache").chmod(mode)

    return act


def _written_after_the_check(harness: Harness) -> None:
    """Between the end of the download and the start of the install."""
    harness.node.hold("systemd-run:physical-ai-grid-driver.service", 2)
    harness.mend_later = _written


def _written(harness: Harness) -> None:
    harness.wait("the install is to start", lambda: harness.node.held("systemd-run:physical-ai-grid-driver.service"))
    harness.node.write(f"{HOME}/cache/{harness.new.sha256}.run", intruder())
    harness.node.release("systemd-run:physical-ai-grid-driver.service")


def _small_disk(harness: Harness) -> None:
    harness.node.run("mkdir", "-p", HOME)
    assert harness.node.run("mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "small", HOME).returncode == 0


def _larger_disk(harness: Harness) -> None:
    assert harness.node.run("mount", "-o", "remount,size=16g", HOME).returncode == 0


def _gone_from_cache(harness: Harness) -> None:
    shutil.rmtree(harness.node.path(f"{HOME}/cache"))
    harness.mirror.stop()


def _keeps_serving(harness: Harness) -> None:
    harness.pause(0.5, lambda: harness.serves(harness.new.version), "a driver that serves needs no cache")


FAULTS = (
    Fault(
        "the mirror refuses connections",
        "waits",
        "Asks again with growing pauses, forever; goes on when the mirror answers.",
        live=_mirror_stops,
        says=r"(?i)refused",
        mend=_mirror_starts,
        runs_nothing=True,
        deep=True,
    ),
    Fault(
        "the download is slow",
        "recovers",
        "Waits as long as bytes come.",
        disk=_trouble("slow"),
        deep=True,
    ),
    Fault(
        "the download stalls",
        "recovers",
        "Drops the connection and resumes where it was.",
        disk=_trouble("", "stalled"),
        then=_resumed,
    ),
    Fault(
        "the connection is cut again and again",
        "recovers",
        "Resumes each time until the file is complete.",
        disk=_trouble("cuts"),
        then=_resumed,
        deep=True,
    ),
    Fault(
        "the mirror knows no ranges",
        "recovers",
        "Starts the file again instead of appending to it.",
        disk=_trouble("no-ranges", "stalled"),
        deep=True,
    ),
    Fault(
        "the download is always cut off at the same place",
        "waits",
        "Never runs half a file; asks again with growing pauses.",
        disk=_trouble("truncated"),
        says=r"(?i)cut|incomplete|short|\d+ of \d+",
        mend=_trouble(""),
        runs_nothing=True,
        deep=True,
    ),
    Fault(
        "the mirror answers 503",
        "waits",
        "Asks again with growing pauses.",
        disk=_trouble("unavailable"),
        says="503",
        mend=_trouble(""),
        runs_nothing=True,
        deep=True,
    ),
    Fault(
        "the mirror does not have the file",
        "waits",
        "Asks again with growing pauses; the condition names the answer 404.",
        disk=_trouble("missing"),
        says="404",
        mend=_trouble(""),
        runs_nothing=True,
        deep=True,
    ),
    Fault("the first mirror is down", "recovers", "Takes the next address of the list.", disk=_two_urls, deep=True),
    Fault(
        "the mirror's name does not resolve",
        "waits",
        "Asks again with growing pauses; new settings are taken up at once.",
        disk=_nowhere,
        says=r"(?i)resol",
        mend=_somewhere,
        runs_nothing=True,
        deep=True,
    ),
    Fault(
        "the file has another checksum",
        "stops",
        "Throws the file away unread, asks once more, then stops and names both checksums.",
        disk=_intruder_on_the_mirror,
        says=r"(?i)sha256|checksum",
        mend=_right_file_on_the_mirror,
        runs_nothing=True,
        gate="closed",
        then=_nothing_cached,
    ),
    Fault(
        "the first mirror has another file",
        "recovers",
        "Throws it away and takes the next address.",
        disk=_wrong_then_right,
        then=_nothing_cached,
        deep=True,
    ),
    Fault(
        "no checksum is set",
        "stops",
        "Downloads nothing: an unknown checksum has to be supplied.",
        disk=_no_checksum,
        says=r"(?i)sha256|checksum",
        mend=_somewhere,
        runs_nothing=True,
        deep=True,
    ),
    Fault(
        "another process replaced the cached file",
        "recovers",
        "Finds it out right before running it, throws it away and downloads it again.",
        disk=_planted(0o700),
        then=_nothing_cached,
        deep=True,
    ),
    Fault(
        "another process writes into the file after it was checked",
        "recovers",
        "Finds it out right before running it, throws it away and downloads it again.",
        live=_written_after_the_check,
        then=_nothing_cached,
    ),
    Fault(
        "the agent's folder was writable foreverybody",
        "recovers",
        "Trusts nothing in it: closes it, checks, downloads again.",
        disk=_planted(0o777),
        then=_nothing_cached,
        deep=True,
    ),
    Fault(
        "the disk is too small for the download",
        "waits",
        "Reports it, and continues when there is room.",
        live=_small_disk,
        says=r"(?i)free|full",
        mend=_larger_disk,
        runs_nothing=True,
        deep=True,
    ),
    Fault(
        "the disk fills up during the install",
        "stops",
        "Takes half the install off again and stops with the installer's word.",
        disk=inject("fail-files"),
        says=r"(?i)space",
        mend=remove("fail-files"),
        gate="closed",
        deep=True,
    ),
    Fault(
        "the cache is lost while the driver serves",
        "recovers",
        "Goes on serving: nothing has to be downloaded.",
        served=True,
        live=_gone_from_cache,
        then=_keeps_serving,
        deep=True,
    ),
)
