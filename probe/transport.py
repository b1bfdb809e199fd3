"""httpx2's way to the network: one request over one connection that is ready already."""

from collections.abc import AsyncIterator
from contextlib import aclosing

import httpcore2
import httpx2

from probe.network import Wire

_NOT_HANDED_ON = frozenset({b"location", b"set-cookie"})
"""Answers' headers that the client would act on: it follows nothing and keeps nothing."""


def client_over(wire: Wire) -> httpx2.AsyncClient:
    """Return a client whose only connection is that wire; it waits as long as the wire does."""
    return httpx2.AsyncClient(transport=WireTransport(wire), trust_env=False, timeout=None)


class WireTransport(httpx2.AsyncBaseTransport):
    """Writes a request to a wire, and takes the answer apart as the wire hands it on.

    Unlike httpx2's own transport it has no pool, since a measured connection is used once, and
    lets what the wire raises through as it is.
    """

    def __init__(self, wire: Wire) -> None:
        """Keep the wire, whose connection stands."""
        self._wire = wire

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Return the answer once its head has come; its body is still to be read."""
        url = httpcore2.URL(
            scheme=request.url.raw_scheme,
            host=request.url.raw_host,
            port=request.url.port,
            target=request.url.raw_path,
        )
        answer = await httpcore2.AsyncHTTP11Connection(url.origin, self._wire).handle_async_request(
            httpcore2.Request(
                request.method, url, headers=request.headers.raw, content=request.stream
            )
        )
        return httpx2.Response(
            answer.status,
            headers=[one for one in answer.headers if one[0].lower() not in _NOT_HANDED_ON],
            stream=_Body(answer),
            extensions=answer.extensions,
        )


class _Body(httpx2.AsyncByteStream):
    """An answer's body, read by read."""

    def __init__(self, answer: httpcore2.Response) -> None:
        self._answer = answer

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async with aclosing(self._answer.aiter_stream()) as parts:
            async for part in parts:
                yield part

    async def aclose(self) -> None:
        await self._answer.aclose()
