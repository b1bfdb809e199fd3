"""`simulate`: switch faults of the demo's simulator on and off."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from pacewatch.sim.address import Address
    from pacewatch.words.endpoint import Endpoint

simulate_app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Make the demo's providers slow or broken, and well again.",
)

Target = Annotated[str, typer.Argument(help="An endpoint, a provider, or all.")]
Region = Annotated[str | None, typer.Option(help="From this region only.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def add_to(app: typer.Typer) -> None:
    """Mount this file's commands."""
    app.add_typer(simulate_app, name="simulate")


@simulate_app.command()
def slow(
    target: Target,
    factor: Annotated[
        float | None, typer.Option(help="Multiplies tokens per second: 0.5 halves them.")
    ] = None,
    ttft_add: Annotated[
        float | None, typer.Option(help="Seconds that the first token comes later.")
    ] = None,
    region: Region = None,
    as_json: AsJson = False,
) -> None:
    """Slow answers down: their speed, their first token, or both."""
    _switch_on("slow", target, region, as_json, factor=factor, ttft_add_s=ttft_add)


@simulate_app.command()
def fail(
    target: Target,
    status: Annotated[int, typer.Option(help="HTTP status of the answers, 300 to 599.")] = 500,
    region: Region = None,
    as_json: AsJson = False,
) -> None:
    """Answer every request with a status, by default 500."""
    _switch_on("fail", target, region, as_json, status=status)


@simulate_app.command("rate-limit")
def rate_limit(
    target: Target,
    retry_after: Annotated[int, typer.Option(help="Seconds that the answers ask to wait.")] = 20,
    region: Region = None,
    as_json: AsJson = False,
) -> None:
    """Answer every request with 429."""
    _switch_on("rate-limit", target, region, as_json, retry_after_s=retry_after)


@simulate_app.command()
def stall(target: Target, region: Region = None, as_json: AsJson = False) -> None:
    """Fall silent in the middle of answers."""
    _switch_on("stall", target, region, as_json)


@simulate_app.command()
def disconnect(target: Target, region: Region = None, as_json: AsJson = False) -> None:
    """Break connections off in the middle of answers."""
    _switch_on("disconnect", target, region, as_json)


@simulate_app.command("not-served")
def not_served(target: Target, region: Region = None, as_json: AsJson = False) -> None:
    """Answer that the model does not exist, with 404."""
    _switch_on("not-served", target, region, as_json)


@simulate_app.command()
def auth(target: Target, region: Region = None, as_json: AsJson = False) -> None:
    """Answer that the key is not accepted, with 401."""
    _switch_on("auth", target, region, as_json)


@simulate_app.command()
def payment(target: Target, region: Region = None, as_json: AsJson = False) -> None:
    """Answer that the account has no credit left."""
    _switch_on("payment", target, region, as_json)


@simulate_app.command()
def retired(target: Target, region: Region = None, as_json: AsJson = False) -> None:
    """Answer that the model is served no longer."""
    _switch_on("retired", target, region, as_json)


@simulate_app.command("stream-error")
def stream_error(
    target: Target,
    why: Annotated[str, typer.Option(help="overloaded, rate-limit or server.")] = "overloaded",
    region: Region = None,
    as_json: AsJson = False,
) -> None:
    """Tell an error in the middle of answers that began well."""
    _switch_on("stream-error", target, region, as_json, why=why)


@simulate_app.command("filter")
def filter_answers(target: Target, region: Region = None, as_json: AsJson = False) -> None:
    """Stop answers in the middle, as a content filter does."""
    _switch_on("filter", target, region, as_json)


@simulate_app.command()
def empty(target: Target, region: Region = None, as_json: AsJson = False) -> None:
    """End answers well, without a word in them."""
    _switch_on("empty", target, region, as_json)


@simulate_app.command()
def broken(
    target: Target,
    how: Annotated[str, typer.Option(help="A way from the reference, as reset or long-line.")],
    region: Region = None,
    as_json: AsJson = False,
) -> None:
    """Break the rules of the wire."""
    _switch_on("broken", target, region, as_json, how=how)


@simulate_app.command()
def cache(target: Target, region: Region = None, as_json: AsJson = False) -> None:
    """Keep prompts by how they begin; answer known ones sooner."""
    _switch_on("cache", target, region, as_json)


@simulate_app.command()
def change(target: Target, region: Region = None, as_json: AsJson = False) -> None:
    """Answer as another version of the model."""
    _switch_on("change", target, region, as_json)


@simulate_app.command()
def clear(
    target: Annotated[
        str | None, typer.Argument(help="Faults of this target only; without it, all faults.")
    ] = None,
    region: Annotated[str | None, typer.Option(help="Faults of this region only.")] = None,
    as_json: AsJson = False,
) -> None:
    """Take faults away."""
    from pacewatch.sim.remote import ask

    told = ask(_address(), "DELETE", "/faults", _given(target=target, region=region))
    if as_json:
        typer.echo(json.dumps(told))
        return
    typer.echo(f"cleared: {told['cleared']}")
    _show(told["faults"])


@simulate_app.command("list")
def list_faults(as_json: AsJson = False) -> None:
    """Show the faults that are on."""
    from pacewatch.sim.remote import ask

    told = ask(_address(), "GET", "/faults")
    if as_json:
        typer.echo(json.dumps(told))
    else:
        _show(told["faults"])


@simulate_app.command(hidden=True)
def serve(
    region: Annotated[list[str], typer.Option(help="NAME=PORT; port 0 takes any free one.")],
    state: Annotated[Path, typer.Option(help="Folder of its address and logs.")],
    exact: Annotated[bool, typer.Option(help="Leave out all spread of times.")] = False,
) -> None:
    """Run the simulator, as the demo does."""
    from pacewatch import log
    from pacewatch.sim.simulator import Plan, serve

    ports = dict(_region_port(text) for text in region)
    plan = Plan(endpoints=_endpoints(), ports=ports, state=state, exact=exact)
    log.set_up("simulator")
    serve(plan)


def _switch_on(kind: str, target: str, region: str | None, as_json: bool, **options: Any) -> None:
    from pacewatch.sim.remote import ask

    fault = {"kind": kind, "target": target, **_given(region=region, **options)}
    told = ask(_address(), "POST", "/faults", fault)
    if as_json:
        typer.echo(json.dumps(told))
    else:
        _show(told["faults"])


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _show(faults: list[dict[str, Any]]) -> None:
    if not faults:
        typer.echo("no fault is on")
    for fault in faults:
        rest = fault.keys() - {"kind", "target", "region"}
        options = "".join(f", {name} {_written(fault[name])}" for name in sorted(rest))
        where = f"from {fault['region']}" if fault["region"] else "from all regions"
        typer.echo(f"on: {fault['kind']} {fault['target']}{options}, {where}")


def _written(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def _address() -> "Address":
    """Return where the demo's simulator is; raises StackError where none is running."""
    from pacewatch.sim.address import read_address
    from pacewatch.stack.state import state_folder

    return read_address(state_folder(os.environ, simulated=True, uid=os.getuid()))


def _region_port(text: str) -> tuple[str, int]:
    from pacewatch.words.errors import SettingsError

    name, _, port = text.partition("=")
    if not name or not port.isascii() or not port.isdigit() or int(port) > 65_535:
        raise SettingsError(
            f'--region "{text}": a name and a port are needed (form: eu-west=41001)'
        )
    return name, int(port)


def _endpoints() -> "tuple[Endpoint, ...]":
    """Return every endpoint of the catalog as the demo asks it."""
    from pacewatch.blanks import simulate
    from pacewatch.catalog import read_catalog
    from pacewatch.config import config_path, load_fleet

    fleet = load_fleet(config_path(os.environ), os.environ)
    if fleet.simulated:
        return tuple(fleet.catalog.values())
    return tuple(simulate(endpoint) for endpoint in read_catalog().endpoints.values())
