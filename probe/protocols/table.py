"""Which reader speaks which wire protocol: one row a protocol."""

from pacewatch.words.endpoint import Protocol
from probe.protocols.anthropic import Anthropic
from probe.protocols.interface import WireProtocol
from probe.protocols.openai_chat import OpenAIChat

PROTOCOLS: dict[Protocol, WireProtocol] = {
    Protocol.OPENAI_CHAT: OpenAIChat(),
    Protocol.ANTHROPIC: Anthropic(),
}
"""Every protocol that has a reader."""
