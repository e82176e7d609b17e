"""Packets on their way through the kernel: a line of four network namespaces, and its rules as Linux enforces them.

    senders ── first router ── second router ── receivers

A router's rules are those of its policy routing (ip-rule(8)): read by priority, with addresses, protocol and ports; one
lets a packet pass or prohibits it. What arrives is read from sockets. None of it shares code with the program's walker.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tests.host.namespaces import Network

Packet = tuple[str, str, int, str]
"""Address of the sender and of the receiver, port, protocol."""
ARRIVED = (0, errno.ECONNREFUSED)
"""Results of a connection whose first packet has arrived: a listener answers, or the receiver, that it has none."""
SECONDS = 2.0


def obstacle() -> str | None:
    """The reason why no packets can be sent here, or None."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "network namespaces are made as root on Linux"
    missing = [tool for tool in ("ip", "nsenter", "unshare") if not shutil.which(tool)]
    if missing:
        return f"{', '.join(missing)} not found"
    probe = "ip link add x0 type veth peer name x1 && ip rule add pref 9 iif x0 ipproto tcp dport 1-2 prohibit"
    done = subprocess.run(["unshare", "--net", "sh", "-c", probe], capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else f"no rules by port: {done.stderr.strip().splitlines()[-1:]}"


@dataclass(frozen=True)
class Line:
    senders: Network
    first: Network
    second: Network
    receivers: Network

    def rules(self, first: Iterable[str], second: Iterable[str]) -> None:
        """Replaces the rules of both routers: `PRIORITY SELECTOR ACTION` each, as ip-rule(8) has them."""
        for router, inside, given in ((self.first, "a0", first), (self.second, "b1", second)):
            kept = ["rule flush", "rule add pref 32766 lookup main"]
            _ip(router, [*kept, *(_rule(each, inside) for each in dict.fromkeys(given))])

    def addresses(self, senders: Iterable[str], receivers: Iterable[str]) -> None:
        """Replaces the addresses of both ends, and the routes to them."""
        for end, router, near, own in (
            (self.senders, self.first, "192.0.2.1", senders),
            (self.receivers, self.second, "192.0.2.10", receivers),
        ):
            _ip(end, ["addr flush dev lo", *(f"addr add {each}/32 dev lo" for each in own)])
            _ip(router, ["route flush proto 42", *(f"route add {each}/32 via {near} proto 42" for each in own)])

    def arrived(self, packets: Sequence[Packet]) -> set[Packet]:
        """The packets that arrive."""
        ports = sorted({port for _, _, port, protocol in packets if protocol == "UDP"})
        with contextlib.ExitStack() as stack:
            ears = {port: stack.enter_context(self.receivers.inside(lambda port=port: _ear(port))) for port in ports}
            self.senders.inside(lambda: [_send(each) for each in packets if each[3] == "UDP"])
            found = self.senders.inside(lambda: _connected([each for each in packets if each[3] == "TCP"]))
            heard = set(_heard(list(ears.values())))
        return found | {each for each in packets if each[3] == "UDP" and _text(each) in heard}


@contextlib.contextmanager
def line() -> Iterator[Line]:
    """A line whose routers let everything pass."""
    made = Line(Network(), Network(), Network(), Network())
    try:
        _link(made.senders, "c0", "192.0.2.1", made.first, "a0", "192.0.2.2")
        _link(made.first, "a1", "192.0.2.5", made.second, "b1", "192.0.2.6")
        _link(made.second, "b0", "192.0.2.9", made.receivers, "s0", "192.0.2.10")
        for one, gateway in ((made.senders, "2"), (made.first, "6"), (made.second, "5"), (made.receivers, "9")):
            _ip(one, [f"route add default via 192.0.2.{gateway}"])
            _sh(one, "cd /proc/sys/net/ipv4 && echo 1 > ip_forward && echo 0 > icmp_ratelimit")
            # Where a kernel has these limits for the machine alone, what is prohibited is waited for.
            _sh(
                one,
                "cd /proc/sys/net/ipv4 && for f in icmp_msgs_per_sec icmp_msgs_burst; do echo 99999 > $f; done; true",
            )
            _sh(one, "cd /proc/sys/net/ipv4 && for f in conf/*/rp_filter; do echo 0 > $f; done")
        yield made
    finally:
        for one in (made.senders, made.first, made.second, made.receivers):
            one.close()


def _link(left: Network, name: str, address: str, right: Network, other: str, far: str) -> None:  # noqa: PLR0917 - both ends of a link
    made = f"ip link add {name} type veth peer name {other} && ip link set {other} netns /proc/self/fd/{right.handle}"
    _sh(left, made, right)
    for one, device, own in ((left, name, address), (right, other, far)):
        _ip(one, [f"addr add {own}/30 dev {device}", f"link set {device} up"])


def _rule(text: str, inside: str) -> str:
    priority, _, rest = text.partition(" ")
    return f"rule add pref {priority} iif {inside} {rest}"


def _ip(network: Network, lines: Sequence[str]) -> None:
    _sh(network, "ip -batch -", text="\n".join(lines))


def _sh(network: Network, command: str, *others: Network, text: str = "") -> None:
    handles = (network.handle, *(each.handle for each in others))
    enter = ["nsenter", f"--net=/proc/self/fd/{network.handle}", "sh", "-c", command]
    subprocess.run(enter, input=text, text=True, check=True, pass_fds=handles)


def _ear(port: int) -> socket.socket:
    ear = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    ear.bind(("", port))
    return ear


def _text(packet: Packet) -> bytes:
    return " ".join(map(str, packet)).encode()


def _send(packet: Packet) -> None:
    source, target, port, _ = packet
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as mouth:
        mouth.bind((source, 0))
        with contextlib.suppress(OSError):  # a router's answer to an earlier packet
            mouth.sendto(_text(packet), (target, port))


def _heard(ears: Sequence[socket.socket]) -> Iterator[bytes]:
    while ready := select.select(ears, [], [], 0.1)[0]:
        yield from (each.recv(200) for each in ready)


def _connected(packets: Sequence[Packet]) -> set[Packet]:
    """Those TCP packets that the receiver answers."""
    waiting: dict[int, tuple[socket.socket, Packet]] = {}
    found: set[Packet] = set()
    poll = select.poll()
    for packet in packets:
        source, target, port, _ = packet
        one = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        one.setblocking(False)
        one.bind((source, 0))
        one.connect_ex((target, port))
        waiting[one.fileno()] = (one, packet)
        poll.register(one, select.POLLOUT)
    end = time.monotonic() + SECONDS
    while waiting and time.monotonic() < end:
        for handle, _ in poll.poll(100):
            one, packet = waiting.pop(handle)
            poll.unregister(handle)
            if one.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) in ARRIVED:
                found.add(packet)
            one.close()
    for one, _ in waiting.values():
        one.close()
    return found
