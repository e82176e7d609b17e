"""Keeps a fresh assertion of GitHub's in a file, for whatever logs in to Azure with it: state, Key Vault, checks.

An assertion is good for minutes and a login for an hour, while a cluster's first deployment takes longer: what reads
$AZURE_FEDERATED_TOKEN_FILE reads it again at each login.

    keep_assertion.py --once        writes it once, after it has compared it with what Azure expects
    keep_assertion.py               renews it until the job ends, whatever GitHub answers meanwhile
    keep_assertion.py --watch PID   beside a step's commands: says in the step's log when the file is about to run out,
                                    and renews it where it can, until the process PID ends

The assertion itself is never printed. Standard library only: it starts before anything is installed.
"""

from __future__ import annotations

import base64
import http.client
import json
import os
import queue
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

AUDIENCE = "api://AzureADTokenExchange"
ISSUER = "https://token.actions.githubusercontent.com"
SECONDS = 240
"""Seconds between two assertions; one is good for five minutes at least."""
PAUSES = (1, 2, 5, 10, 20, 40)
"""Seconds between tries after a failure; the last one is repeated."""
LONGEST, LARGEST = 30, 65_536
"""Seconds that one answer may take, and its bytes."""
ALMOST = 60
"""Seconds of an assertion's life in which it should have been replaced."""
PASSING = (301, 302, 303, 307, 308, 408, 429)
"""Answers that may be others soon: a proxy may redirect for a while, for example to its maintenance page."""
LOOK = 5
"""Seconds between two looks at the file."""


class NoAssertion(Exception):
    """Raised where no assertion was issued; the text says why, without any part of an answer."""


class Denied(NoAssertion):
    """Raised where another try would get the same answer."""


class OtherIdentity(NoAssertion):
    """Azure would refuse the assertion; the text says what to do."""


def request() -> urllib.request.Request:
    """Asks the service whose address GitHub passes to a job."""
    try:
        address = f"{os.environ['ACTIONS_ID_TOKEN_REQUEST_URL']}&audience={AUDIENCE}"
        bearer = os.environ["ACTIONS_ID_TOKEN_REQUEST_TOKEN"]
    except KeyError as missing:
        raise Denied(f"the job has no {missing}: it needs the permission `id-token: write`") from None
    return urllib.request.Request(address, headers={"Authorization": f"Bearer {bearer}"})  # noqa: S310 - GitHub's


class Stay(urllib.request.HTTPRedirectHandler):
    """The bearer is for GitHub's service alone, which redirects nowhere."""

    def redirect_request(self, *_: Any) -> None:
        return None


def answer() -> bytes:
    """The whole answer, within the limits of time and size. Raises NoAssertion.

    In a thread of its own: a socket's limit is for each read, and headers that drip have no end.
    """
    found: queue.SimpleQueue[bytes | Exception] = queue.SimpleQueue()

    def ask() -> None:
        try:
            found.put(received())
        except Exception as problem:
            found.put(problem)

    threading.Thread(target=ask, daemon=True).start()
    try:
        text = found.get(timeout=max(LONGEST, 0))
    except queue.Empty:
        raise NoAssertion(f"GitHub's answer took longer than {LONGEST} seconds") from None
    if isinstance(text, Exception):
        raise text
    return text


def received() -> bytes:
    end = time.monotonic() + LONGEST
    try:
        with urllib.request.build_opener(Stay).open(request(), timeout=LONGEST / 2) as reply:
            text = b""
            while part := reply.read1(LARGEST):
                text += part
                if len(text) > LARGEST or time.monotonic() > end:
                    raise NoAssertion(f"GitHub's answer was longer than {LARGEST} bytes or {LONGEST} seconds")
            if reply.length:
                raise NoAssertion("GitHub's answer was cut off")
            return text
    except urllib.error.HTTPError as problem:
        again = problem.code >= http.HTTPStatus.INTERNAL_SERVER_ERROR or problem.code in PASSING
        raise (NoAssertion if again else Denied)(f"GitHub answered HTTP {problem.code}") from None
    except (OSError, http.client.HTTPException) as problem:
        raise NoAssertion(f"GitHub could not be asked: {type(problem).__name__}: {problem}") from None


def claims(assertion: str) -> dict[str, Any]:
    """Claims of an assertion, read without verification. Raises NoAssertion for text that is not a token."""
    try:
        _, body, _ = assertion.split(".")
        found = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
        good_until = found["exp"]
    except (ValueError, LookupError, TypeError, RecursionError):
        raise NoAssertion("GitHub's answer has a value that is no assertion") from None
    if isinstance(good_until, bool) or not isinstance(good_until, int | float):
        raise NoAssertion("GitHub's answer has an assertion without an end")
    if good_until <= time.time():
        raise NoAssertion("GitHub's answer has an assertion that has run out; compare the clocks")
    return found


def new_assertion() -> tuple[str, dict[str, Any]]:
    """An assertion and its claims. Raises NoAssertion, whatever the answer is."""
    try:
        value = json.loads(answer())["value"]
    except (ValueError, LookupError, TypeError, RecursionError):
        raise NoAssertion("GitHub's answer is no document with an assertion") from None
    if not isinstance(value, str):
        raise NoAssertion("GitHub's answer has a value that is no text")
    return value, claims(value)


def compare(found: Mapping[str, Any], expected: str) -> None:
    """Raises OtherIdentity where Azure's credential is for another identity than the job's."""
    again = "Run the script of `physai bootstrap` again, which asks GitHub for the identity that it sends now."
    pairs = [("issuer", found.get("iss"), ISSUER), ("audience", found.get("aud"), AUDIENCE)]
    if expected:
        pairs.append(("subject", found.get("sub"), expected))
    for what, has, wanted in pairs:
        if has != wanted:
            raise OtherIdentity(
                f"GitHub gives this job the {what} {printable(has)}, and the credential in Azure is for {wanted!r}: "
                f"Entra would refuse the login (AADSTS700213 or AADSTS70021). {again}"
            )


def printable(value: Any) -> str:
    return repr(value)[:300]


def write(file: Path) -> dict[str, Any]:
    """Replaces the file in one step: a reader finds the old assertion or the new one. The claims of the new one."""
    value, found = new_assertion()
    descriptor, draft = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}-")  # readable by its owner only
    try:
        with os.fdopen(descriptor, "w") as text:
            text.write(value)
        Path(draft).replace(file)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise
    return found


def pauses() -> Iterator[int]:
    yield from PAUSES
    while True:
        yield PAUSES[-1]


def once(file: Path) -> int:
    """Writes it and compares it; tries again after what may pass."""
    for pause in (*PAUSES[:4], 0):
        try:
            found = write(file)
            break
        except Denied as problem:
            return say("error", f"no assertion: {problem}")
        except Exception as problem:
            last = reason(problem)
        print(f"no assertion: {last}", file=sys.stderr, flush=True)
        time.sleep(pause)
    else:
        return say("error", f"no assertion: {last}")
    expected = os.environ.get("AZURE_SUBJECT", "")
    if not expected:
        say(
            "warning",
            "The GitHub environment has no variable AZURE_SUBJECT, so the job's identity is not compared with the "
            "credential's. The script of `physai bootstrap` writes it.",
        )
    try:
        compare(found, expected)
    except OtherIdentity as problem:
        file.unlink()
        return say("error", str(problem))
    return 0


def keep(file: Path) -> None:
    """Renews it for ever. Nothing that GitHub answers ends this."""
    waits = pauses()
    while True:
        try:
            write(file)
        except Exception as problem:
            print(f"no new assertion: {reason(problem)}", file=sys.stderr, flush=True)
            time.sleep(next(waits))
        else:
            waits = pauses()
            time.sleep(until_next(file))


def until_next(file: Path) -> float:
    """Seconds until the next assertion is wanted: before the half of one with a short life has passed."""
    return min(SECONDS, max(1.0, left(file) / 2))


def left(file: Path) -> float:
    """Seconds for which the assertion in the file is good; 0 where there is none."""
    try:
        return claims(file.read_text())["exp"] - time.time()
    except (OSError, UnicodeDecodeError, NoAssertion):
        return 0


def watch(file: Path, process: int) -> None:
    """Renews what nobody has renewed, and says so in time: a login with it would fail."""
    late = False
    while is_running(process):
        if left(file) < ALMOST:
            try:
                write(file)
            except Exception as problem:
                late = True
                say(
                    "error",
                    f"The job's assertion is not renewed: {reason(problem)}. It is good for {left(file):.0f} more "
                    "seconds; after that logins to Azure fail, and Pulumi cannot write its state.",
                )
            else:
                say("warning", "The assertion's keeper has stopped or is late; this step renews the assertion itself.")
        elif late:
            late = False
            say("notice", "The job's assertion is renewed again.")
        time.sleep(LOOK)


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def reason(problem: Exception) -> str:
    """The reason for a missing assertion: this script's own message, or the type of an unexpected error without any
    part of an answer.
    """
    own = isinstance(problem, NoAssertion | OSError)
    return " ".join(str(problem).split()) if own else type(problem).__name__


def say(kind: str, text: str) -> int:
    """Shows a text as GitHub does; the exit code of a failure."""
    print(f"::{kind}::{text}", flush=True)
    return 1


def main() -> int:
    file = Path(os.environ["AZURE_FEDERATED_TOKEN_FILE"])
    words = sys.argv[1:]
    if words == ["--once"]:
        return once(file)
    if words[:1] == ["--watch"]:
        watch(file, int(words[1]))
        return 0
    time.sleep(until_next(file))  # `--once` has just written it
    keep(file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
