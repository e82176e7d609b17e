"""Cases of a new node until its driver works, and causes that prevent an install."""

from __future__ import annotations

from dataclasses import replace

from grid_agent.facts import (
    Gpu,
)
from grid_agent.memory import Memory
from grid_agent.steps import State, Step
from grid_agent.wanted import Package
from tests.support.grid_agent_cases.case import (
    CACHED,
    FRESH,
    OPEN,
    Case,
    failing,
    job,
    working,
)
from tests.support.grid_agent_fake import OLD, installed, wanted

CASES = [
    # The way of a fresh node.
    Case("fresh node", State.GATING, "Gate", Step.GATE, "not installed", node=OPEN),
    Case("gated fresh node", State.FETCHING, "Fetch", Step.FETCH),
    Case("fetched", State.CONFIGURING, "Configure", Step.CONFIGURE, host=CACHED),
    Case("configured", State.INSTALLING, "Install", Step.INSTALL, host=replace(CACHED, configured=True)),
    Case(
        "install runs", State.INSTALLING, "Install", Step.WAIT, "for 90 s", host=replace(CACHED, job=job(Step.INSTALL))
    ),
    Case(
        "labels stripped while the install runs",
        State.INSTALLING,
        "Install",
        Step.GATE,
        host=replace(CACHED, job=job(Step.INSTALL)),
        node=OPEN,
    ),
    Case(
        "download for a node in service",
        State.FETCHING,
        "Fetch",
        Step.WAIT,
        host=installed(OLD, job=job(Step.FETCH)),
        node=OPEN,
        memory=Memory(verified=wanted(OLD).target),
    ),
    Case(
        "installed",
        State.CONFIGURING,
        "Configure",
        Step.CONFIGURE,
        "gridd.conf",
        host=replace(installed(), loaded={}, gridd_configured=False),
    ),
    Case("configured after install", State.VERIFYING, "Load", Step.LOAD, host=working(loaded={})),
    Case("proven, gate closed", State.UNGATING, "Ungate", Step.UNGATE, host=working()),
    Case("proven, gate open", State.READY, "DriverVerified", Step.WAIT, "licensed", host=working(), node=OPEN),
    # Downloads.
    Case(
        "download refused",
        State.FETCHING,
        "FetchFailed",
        Step.WAIT,
        "refused",
        memory=failing(Step.FETCH, "connection refused"),
    ),
    Case(
        "wrong checksum for good",
        State.BLOCKED,
        "FetchFailed",
        Step.WAIT,
        "No GPU Pod can start",
        memory=failing(Step.FETCH, "wrong sha256", final=True),
    ),
    Case("unknown checksum", State.BLOCKED, "UnknownChecksum", Step.WAIT, "sha256", wanted=wanted(sha256="")),
    Case("no URL", State.BLOCKED, "NoSource", Step.WAIT, "mirror", wanted=wanted(urls=())),
    Case("disk full", State.BLOCKED, "DiskFull", Step.WAIT, "1.0 GiB", host=replace(FRESH, free_bytes=1 << 30)),
    # The machine.
    Case(
        "arm64", State.BLOCKED, "WrongArchitecture", Step.WAIT, "aarch64", host=replace(FRESH, architecture="aarch64")
    ),
    Case(
        "not Ubuntu",
        State.BLOCKED,
        "WrongSystem",
        Step.WAIT,
        "azurelinux",
        host=replace(FRESH, system="azurelinux 3.0"),
    ),
    Case("no GPU on the bus", State.BLOCKED, "NoGpu", Step.WAIT, "VM size", host=replace(FRESH, gpus=())),
    Case(
        "another GPU",
        State.BLOCKED,
        "WrongGpu",
        Step.WAIT,
        "10de:2331",
        host=replace(FRESH, gpus=(Gpu("0001:00:00.0", "10de:2331"),)),
        wanted=wanted(devices=("10de:2bb5",)),
    ),
    Case("Secure Boot", State.BLOCKED, "SecureBoot", Step.WAIT, "unsigned", host=replace(FRESH, secure_boot=True)),
    Case(
        "read-only /usr", State.BLOCKED, "ReadOnlyUsr", Step.WAIT, "read-only", host=replace(FRESH, usr_writable=False)
    ),
    Case("bad kernel", State.BLOCKED, "RefusedKernel", Step.WAIT, "6.11", host=replace(FRESH, kernel="6.11.0-1")),
    Case("blocked with an open gate", State.BLOCKED, "NoGpu", Step.GATE, host=replace(FRESH, gpus=()), node=OPEN),
    Case(
        "no headers offline",
        State.BLOCKED,
        "HeadersMissing",
        Step.WAIT,
        "kernel headers",
        host=replace(FRESH, headers=False),
        wanted=wanted(package_source="offline"),
    ),
    Case(
        "headers come with packages",
        State.FETCHING,
        "Fetch",
        Step.FETCH,
        host=replace(FRESH, headers=False),
        wanted=wanted(package_source="offline", packages=(Package("https://m.example/h.deb", "d" * 64),)),
    ),
    Case("headers missing, apt allowed", State.FETCHING, "Fetch", Step.FETCH, host=replace(FRESH, headers=False)),
]
