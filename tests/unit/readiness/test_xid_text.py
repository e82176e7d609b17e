"""What the line of an Xid says beyond its code."""

from __future__ import annotations

from physical_ai.readiness.nodes.xid_text import stated_advice
from tests.support.cases import in_one_test

CHANGED = "NVRM: Xid (PCI:0009:01:00): 154, GPU recovery action changed from {} to {}"
LINK = "NVRM: Xid (PCI:0018:01:00): {}, {} {} XC0 i0 Link 08 (0x004505c6 0x00000000 0x00000000 0x00000000)"


@in_one_test(
    ("code", "line", "advice"),
    [
        (154, CHANGED.format("0x0 (None)", "0x2 (Node Reboot Required)"), "reboot"),
        (154, CHANGED.format("0x0 (None)", "0x1 (GPU Reset Required)"), "reboot"),
        (154, CHANGED.format("0x0 (None)", "0x3 (Drain P2P)"), "reboot"),
        (154, CHANGED.format("0x2 (Node Reboot Required)", "0x0 (None)"), "none"),
        (154, "Xid 154 GPU recovery action changed from 0x0 (None) to 0x4 (Drain and Reset)", "reboot"),
        (154, "Xid 154", None),
        (144, LINK.format(144, "SAW_MVB", "Fatal"), "reboot"),
        (146, LINK.format(146, "TLW_RX", "Nonfatal"), "none"),
        (149, LINK.format(149, "NETIR_LINK_EVT", "Fatal"), "reboot"),
        (145, "Xid 145", None),
        (79, "NVRM: Xid (PCI:0000:01:00): 79, GPU has fallen off the bus. Fatal", None),
    ],
)
def test_the_line_says_what_the_code_does_not(code: int, line: str, advice: str | None) -> None:
    assert stated_advice(code, line) == advice
