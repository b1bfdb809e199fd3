"""The child process that speaks to services: the only place where apprise is loaded.

It reads one question a line on standard input and answers each with one line. What goes back is
words of our own alone: a service's answer, an error's text and apprise's log may hold the address.
"""

import json
import logging
import os
import re
import sys
from collections.abc import Iterable
from typing import Any, TextIO

STABLE_KEYS: dict[str, str] = {
    "firehydrant": "dedup",
    "goalert": "dedup",
    "goalerts": "dedup",
    "ilert": "dedup",
    "incidentio": "dedup",
    "opsimate": "dedup",
    "opsimates": "dedup",
    "pagerduty": "dedup",
    "pagertree": "thirdparty",
    "signl4": "external_id",
    "splunk": "entity_id",
    "squadcast": "dedup",
    "victorops": "entity_id",
}
"""Services that know one alert by a key, which the end of an incident closes: what apprise calls
the key, by the address's scheme.
"""

OPENING_KEYS: dict[str, str] = {"opsgenie": "alias"}
"""Services that take a second message of a key as the same alert, but cannot be told its end."""

IN_CLEAR = frozenset({"form", "goalert", "json", "opsimate", "xml"})
"""Schemes whose messages go out without TLS."""

HEADED = frozenset({"form", "forms", "json", "jsons", "xml", "xmls"})
"""Schemes of webhooks: they are told the message's key in the header KEY_HEADER."""

KEY_HEADER = "Idempotency-Key"

_REASONS: tuple[tuple[str, str], ...] = (
    (r"CERTIFICATE_VERIFY_FAILED", "its certificate is not trusted"),
    (r"SSLError|SSL:|TLS", "TLS failed"),
    (r"ProxyError|Tunnel connection failed|Unable to connect to proxy", "the proxy did not let us"),
    (r"NameResolutionError|Name or service not known|getaddrinfo", "its host name is not known"),
    (r"Connection refused|Errno 111", "the connection was refused"),
    (r"Connection reset|RemoteDisconnected|Connection aborted|BrokenPipe", "it broke off"),
    (r"[Tt]imed out|[Tt]imeout", "no answer in time"),
    (r"[Nn]o route to host|unreachable", "its host cannot be reached"),
    (r"SMTPAuthenticationError|\b535\b", "it refused the user name or the password"),
)
"""What is looked for in apprise's log, and what is told of it; the first that is there."""

_STATUS = re.compile(r"\berror=(\d{3})\b")
_UNKNOWN = "the service did not take it"
_PROXIES = ("http_proxy", "https_proxy", "all_proxy")


def reason_of(lines: Iterable[str]) -> str:
    """Return why a message was not taken, from apprise's log and without a word of it."""
    text = "\n".join(lines)
    if status := _STATUS.search(text):
        return f"it answered {status[1]}"
    for looked_for, told in _REASONS:
        if re.search(looked_for, text):
            return told
    return _UNKNOWN


class _Kept(logging.Handler):
    """Keeps what apprise logs, so that it goes nowhere else."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def serve(questions: TextIO, answers: TextIO) -> None:
    """Answer until the questions end; the first line says that apprise is loaded."""
    kept = _Kept()
    logger = logging.getLogger("apprise")
    logger.handlers, logger.propagate = [kept], False
    logger.setLevel(logging.DEBUG)
    import apprise

    apprise.Apprise.instantiate("json://localhost")  # loads what knows the services
    _say(answers, {"ready": True})
    for line in questions:
        kept.lines.clear()
        _say(answers, answer(json.loads(line), kept.lines))


def _say(answers: TextIO, said: dict[str, Any]) -> None:
    answers.write(json.dumps(said) + "\n")
    answers.flush()


def answer(question: dict[str, Any], lines: list[str]) -> dict[str, Any]:
    """Return what came of a question: `fault` of its address, or `taken` and why not.

    It has `url`; to send, also `title`, `body`, `type`, `key`, `message_key` and `proxy_url`.
    """
    parts = parts_of(question["url"])
    if isinstance(parts, str):
        return {"fault": parts}
    scheme = str(parts["schema"])
    service = service_of(parts, question.get("key"), question.get("message_key"))
    if service is None:
        return {"fault": f"{_name(scheme)} does not know it: a part is missing or wrong"}
    known = {
        "service": _name(scheme),
        "verified": bool(service.verify_certificate),
        "in_clear": scheme in IN_CLEAR,
        "host": service.host if scheme in IN_CLEAR else None,
        "closes": scheme in STABLE_KEYS,
    }
    if "body" not in question:
        return known
    _go_through(question["proxy_url"])
    taken = _send(service, question)
    return known | {"taken": taken, "why": None if taken else reason_of(lines)}


def parts_of(url: str) -> dict[str, Any] | str:
    """Return the parts of an address, or what is wrong with it."""
    from apprise import plugins
    from apprise.utils.parse import parse_urls

    if len(parse_urls(url)) > 1:
        return "it holds several addresses (allowed: one; each is a channel of its own)"
    parts: dict[str, Any] | None = plugins.url_to_dict(url, secure_logging=True)
    return parts or "no service has an address of that form"


def service_of(parts: dict[str, Any], key: str | None, message_key: str | None = None) -> Any:
    """Return the service, told by which keys it knows the incident and the message; None where it
    cannot be.
    """
    import apprise

    asset = apprise.AppriseAsset(
        app_id="Pacewatch", app_desc="Pacewatch", async_mode=False, http_redirects=False
    )
    scheme = str(parts["schema"])
    named = (STABLE_KEYS | OPENING_KEYS).get(scheme)
    if key is not None and named is not None:
        ours = {named: key} | ({"action": "map"} if scheme in STABLE_KEYS else {})
        parts = parts | {name: parts.get(name) or value for name, value in ours.items()}
    if message_key is not None and scheme in HEADED:
        parts = parts | {"headers": {KEY_HEADER: message_key} | parts["headers"]}
    return apprise.Apprise.instantiate(parts, asset=asset)


def _name(scheme: str) -> str:
    from apprise.manager_plugins import NotificationManager

    return str(NotificationManager()[scheme].service_name)


def _go_through(proxy_url: str | None) -> None:
    """Have requests take this proxy, or none: the only ones that it hears of."""
    for name in _PROXIES:
        os.environ.pop(name, None)
    if proxy_url is None:
        os.environ["no_proxy"] = "*"
    else:
        os.environ.pop("no_proxy", None)
        os.environ.update(dict.fromkeys(_PROXIES, proxy_url))


def _send(service: Any, question: dict[str, Any]) -> bool:
    import apprise

    sender = apprise.Apprise(asset=service.asset)
    sender.add(service)
    return bool(
        sender.notify(
            title=question["title"],
            body=question["body"],
            notify_type=question["type"],
            body_format=apprise.NotifyFormat.TEXT,
        )
    )


if __name__ == "__main__":
    serve(sys.stdin, sys.stdout)
