"""Which reader speaks which wire protocol: one row a protocol."""

from pacewatch.words.endpoint import Protocol
from probe.protocols.anthropic import Anthropic
from probe.protocols.bedrock import Bedrock
from probe.protocols.gemini import Gemini
from probe.protocols.interface import WireProtocol
from probe.protocols.openai_chat import OpenAIChat
from probe.protocols.openai_responses import OpenAIResponses

PROTOCOLS: dict[Protocol, WireProtocol] = {
    Protocol.OPENAI_CHAT: OpenAIChat(),
    Protocol.OPENAI_RESPONSES: OpenAIResponses(),
    Protocol.ANTHROPIC: Anthropic(),
    Protocol.GEMINI: Gemini(),
    Protocol.BEDROCK: Bedrock(),
}
"""Every protocol that has a reader."""
