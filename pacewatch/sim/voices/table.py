"""Which protocols the simulator speaks."""

from collections.abc import Mapping

from pacewatch.sim.voices.anthropic import AnthropicSpeaker
from pacewatch.sim.voices.interface import Speaker
from pacewatch.sim.voices.openai_chat import OpenAIChatSpeaker
from pacewatch.words.endpoint import Protocol

SPEAKERS: Mapping[Protocol, Speaker] = {
    Protocol.OPENAI_CHAT: OpenAIChatSpeaker(),
    Protocol.ANTHROPIC: AnthropicSpeaker(),
}
