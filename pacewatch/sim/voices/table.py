"""Which protocols the simulator speaks."""

from collections.abc import Mapping

from pacewatch.sim.voices.anthropic import AnthropicSpeaker
from pacewatch.sim.voices.bedrock import BedrockSpeaker
from pacewatch.sim.voices.gemini import GeminiSpeaker
from pacewatch.sim.voices.interface import Speaker
from pacewatch.sim.voices.openai_chat import OpenAIChatSpeaker
from pacewatch.sim.voices.responses import ResponsesSpeaker
from pacewatch.words.endpoint import Protocol

SPEAKERS: Mapping[Protocol, Speaker] = {
    Protocol.OPENAI_CHAT: OpenAIChatSpeaker(),
    Protocol.OPENAI_RESPONSES: ResponsesSpeaker(),
    Protocol.ANTHROPIC: AnthropicSpeaker(),
    Protocol.GEMINI: GeminiSpeaker(),
    Protocol.BEDROCK: BedrockSpeaker(),
}
