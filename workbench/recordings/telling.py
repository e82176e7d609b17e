"""Tests of names of settings: settings whose values are credentials, and settings whose values are kept. Pure
functions.
"""

from __future__ import annotations

import re

_PARTS = re.compile(
    r"pass[-_]?(?:word|wd|phrase|code|file)|passwd|secret|token(?!i[sz])|credential|kubeconfig|authorization|cookie|htpasswd|netrc"
    r"|passwort|kennwort|contrase|senha|mot[-_ ]?de[-_ ]?passe|密码|密碼|口令|パスワード|비밀번호|пароль"
    r"|(?:api|access|account|private|primary|secondary|shared|signing|encryption|client|master|admin|subscription|license"
    r"|munge|ssh|storage|instrumentation|jwt)[-_. ]?key"
    r"|connection[-_. ]?string|client[-_]?cert|string[-_]?data|docker[-_]?config|webhook[-_]?(?:url|uri)"
    r"|slack[-_]?(?:api[-_]?)?(?:url|uri)|sas[-_]?(?:url|uri)|[-_.]key$",
    re.IGNORECASE,
)
_WORDS = frozenset({"pass", "pwd", "pat", "auth", "auths", "pin", "psk", "sas", "jwt", "otp", "totp", "sig", "pgpass",
                    "creds", "cred", "pw", "passwd", "mfa"})  # fmt: skip
_WORD = re.compile(r"[A-Z]{1,64}(?![a-z])|[A-Z]?[a-z]{1,64}")
_ENDS = re.compile(r"(?<!by)(?<!com)(?<!tres)(?<!sur)(?:pass|pwd)$", re.IGNORECASE)
_PASSWORD = re.compile(
    r"pass[-_]?(?:word|wd|wort|phrase|code)|passwd|kennwort|contrase|senha|mot[-_ ]?de[-_ ]?passe"
    r"|密码|密碼|口令|パスワード|비밀번호|пароль|(?:^|[^A-Za-z])(?:pwd|psk|pw)$|(?:access|account|shared)[-_. ]?key$",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"^(?:Invalid|Expired|Missing|Failed|Unknown|Unsupported|Wrong|Bad|No)[A-Z]"
    r"|[a-z](?:Failed|Failure|Error|Exception|NotFound|Expired|Denied|Invalid|Missing|Required|Mismatch|Tenant|Refused|Revoked)$"
)
_COUNT = re.compile(r"tokens$", re.IGNORECASE)
_NUMBER = re.compile(r"\s{0,8}[0-9]{1,7}(?![\w.-])")
_REFERENCES = re.compile(
    r"(?:[a-z](?:Name|Names|Namespace|Ref|Refs|Reference|References|Seconds|Provider|Rotation|Generation)|[-_]name"
    r"|(?:[cC]onfig|[pP]ull|[rR]egistry|[dD]atastore|[eE]xisting|[tT]ls|[cC]ert)Secrets?)$"
)
"""Endings of the names of API fields that refer to a Secret and do not contain one. The endings are used for fields of
objects, not for free text.
"""
_KEPT = frozenset({"nvidia.com/gpu.key", "matchLabelKeys", "automountServiceAccountToken", "serviceAccountToken",
                   "count/secrets", "imagePullSecrets", "tokenRequests", "sessionAffinity"})  # fmt: skip
LONGEST = 256
"""Maximum number of characters of a name that are examined, counted from the name's end."""


def is_telling(key: str) -> bool:
    """True for the name of a setting or environment variable whose value is a credential.

    >>> is_telling("POSTGRES_PASSWORD"), is_telling("AZDO_PAT"), is_telling("path"), is_telling("tokenId")
    (True, True, False, True)
    """
    end = key[-LONGEST:]
    return (
        bool(_PARTS.search(end))
        or bool(_ENDS.search(end))
        or any(each.lower() in _WORDS for each in _WORD.findall(end))
    )


def names_password(key: str) -> bool:
    """True for a word that introduces a password, as in `password abc`; False for a word such as `secret`, which the
    name of an object may follow.
    """
    return bool(_PASSWORD.search(key[-LONGEST:]))


def is_reason(word: str) -> bool:
    """True for the code of an error: the text after it is the error's message, and no credential.

    >>> is_reason("AuthorizationFailed"), is_reason("InvalidAuthenticationTokenTenant"), is_reason("token")
    (True, True, False)
    """
    return bool(_REASON.search(word[-LONGEST:]))


def is_count(key: str, value: str) -> bool:
    """True if the value is a number of tokens of a language model, and no credential.

    >>> is_count("max_tokens", "4096"), is_count("token", "4096")
    (True, False)
    """
    return bool(_COUNT.search(key[-LONGEST:])) and bool(_NUMBER.match(value))


def is_telling_field(key: str) -> bool:
    """True for a field of an object whose whole value is a credential; False for a reference to a Secret.

    >>> is_telling_field("secretName"), is_telling_field("nodeStageSecretRef"), is_telling_field("adminPassword")
    (False, False, True)
    """
    return key not in _KEPT and is_telling(key) and not _REFERENCES.search(key[-LONGEST:])


_SECRETS_NAMED = re.compile(r"[a-z]Secrets?$")


def names_secrets(key: str) -> bool:
    """True for a setting of a stack whose value is the name of one of its secrets, or maps something to such names.

    >>> names_secrets("webhookSecret"), names_secrets("headerSecrets"), names_secrets("secrets")
    (True, True, False)
    """
    return bool(_SECRETS_NAMED.search(key))


_ANNOTATIONS = re.compile(
    r"^(?:(?:[\w-]{1,63}\.){0,8}(?:kubernetes\.io|k8s\.io|nvidia\.com|kai\.scheduler|run\.ai|kubernetes\.azure\.com|azure\.com"
    r"|k8s\.v1\.cni\.cncf\.io|kubebuilder\.io|helm\.sh|cert-manager\.io)/|physical-ai/|pod-group-name$|deprecated"
    r"|api-approved\.kubernetes\.io$)"
)
_NO_ANNOTATIONS = re.compile(r"last-applied|change-cause|^(?:kubectl\.|container\.apparmor)", re.IGNORECASE)


def keeps_annotation(key: str) -> bool:
    """True for an annotation of Kubernetes, Azure, NVIDIA, the schedulers or this project whose value is kept."""
    return bool(_ANNOTATIONS.match(key)) and not _NO_ANNOTATIONS.search(key) and not is_telling(key)


_VARIABLES = re.compile(
    r"^(?:NVIDIA_|NCCL_|GPU_\w{1,64}_DIGEST$|RUNTIME_CONFIG_SOURCE$|(?:MIG|DEVICE_LIST|DEVICE_ID)_STRATEGY$|KERNEL_MODULE_TYPE$)"
)
_PLAIN = re.compile(r"^(?:-?[0-9]{1,5}(?:\.[0-9]{1,3})?|true|false|yes|no|on|off)$", re.IGNORECASE)


def is_plain(value: str) -> bool:
    """True for a number with at most five digits before the point, or for `true`, `false`, `yes`, `no`, `on`, `off`."""
    return bool(_PLAIN.match(value))


def keeps_variable(key: str, value: str) -> bool:
    """True for an environment variable whose value is kept in a recording."""
    return not is_telling(key) and (bool(_VARIABLES.match(key)) or is_plain(value))


_FLAGS = frozenset({
    "v", "loglevel", "logformat", "nodename", "namespace", "port", "metricsbindaddress", "leaderelect", "migstrategy",
    "healthprobebindaddress", "resourcename", "featuregates", "schedulername",
})  # fmt: skip


def keeps_flag(flag: str) -> bool:
    """True for a command line flag whose value is kept in a recording."""
    return not is_telling(flag) and flag.lstrip("-").replace("-", "").replace("_", "").lower() in _FLAGS
