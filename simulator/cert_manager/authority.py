"""The certificate authority of the simulated cert-manager.

It signs without checks: its caller has checked the DNS record.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import cache

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

LIFETIME = timedelta(days=90)
_NAME = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "simulated certificate authority")])


@cache
def _authority() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def issue(names: Sequence[str]) -> tuple[dict[str, str], datetime]:
    """`tls.crt` and `tls.key` in base64 of a new certificate for these DNS names, and the time at which it expires."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0][:64])])
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(_NAME)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now)
        .not_valid_after(now + LIFETIME)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(each) for each in names]), critical=False)
        .sign(_authority(), hashes.SHA256())
    )
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    found = {"tls.crt": made.public_bytes(serialization.Encoding.PEM), "tls.key": pem}
    return {part: base64.b64encode(value).decode() for part, value in found.items()}, now + LIFETIME
