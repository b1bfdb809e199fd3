"""HEAD, which HTTP wants wherever there is GET (RFC 9110, 9.1)."""

from starlette.types import ASGIApp, Receive, Scope, Send


class HeadAsGet:
    """Lets routes answer a HEAD as they would a GET; the server keeps the body to itself."""

    def __init__(self, app: ASGIApp) -> None:
        """Stand before the app."""
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand the request on."""
        if scope["type"] == "http" and scope["method"] == "HEAD":
            scope = {**scope, "method": "GET"}
        await self.app(scope, receive, send)
