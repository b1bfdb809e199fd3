"""Groups of commands one of which is meant where none is named."""

from typing import Any

from typer.core import TyperGroup

_HELP = frozenset({"-h", "--help"})


class OrList(TyperGroup):
    """`list` is meant where no command is named."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the name of the command before its words."""
        if not args or (args[0].startswith("-") and args[0] not in _HELP):
            args = ["list", *args]
        return super().parse_args(ctx, args)


class OrBegin(TyperGroup):
    """`begin` is meant where what comes first is no command."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the name of the command before its words."""
        if args and args[0] not in {*self.commands, *_HELP}:
            args = ["begin", *args]
        return super().parse_args(ctx, args)
