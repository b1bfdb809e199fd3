"""`grafana push`: put the dashboards on a Grafana."""

import os

import typer

from pacewatch.facts import why_no_base_url
from pacewatch.secret import read_secret
from pacewatch.words.errors import SettingsError

grafana = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Put the dashboards on a Grafana."
)


def add_to(app: typer.Typer) -> None:
    """Mount this file's commands."""
    app.add_typer(grafana, name="grafana")


@grafana.callback()
def root() -> None:
    """Group the commands; `push` is one of them."""


@grafana.command()
def push(
    url: str = typer.Option(..., help="Grafana's address, as http://127.0.0.1:3000."),
    folder: str = typer.Option("", help="Uid of the folder to put them in."),
) -> None:
    """Put the dashboards on a Grafana.

    Its token is taken from PACEWATCH_GRAFANA_TOKEN.
    """
    from grafana_client.api import GrafanaApi

    from dashboards.publish import push as push_all

    if fault := why_no_base_url(url):
        raise SettingsError(f"--url: {fault}")
    token = read_secret("PACEWATCH_GRAFANA_TOKEN", os.environ)
    if token is None:
        raise SettingsError(
            "PACEWATCH_GRAFANA_TOKEN is not set; it holds a service account token of Grafana "
            "that may write dashboards (or PACEWATCH_GRAFANA_TOKEN_FILE names its file)"
        )
    for address in push_all(GrafanaApi.from_url(url, credential=token), folder_uid=folder or None):
        typer.echo(f"{url.rstrip('/')}{address}")
