"""The table of dashboards; writes them as files for provisioning, and pushes them to Grafana."""

import json
import re
from collections.abc import Callable, Mapping
from importlib.resources import files
from pathlib import Path

from grafana_client.api import GrafanaApi
from grafana_client.client import GrafanaException

from dashboards import endpoints, judgement, probers
from dashboards.variables import Json
from pacewatch.words.errors import PacewatchError

DASHBOARDS: Mapping[str, Callable[[], Json]] = {
    "endpoints": endpoints.build,
    "judgement": judgement.build,
    "probers": probers.build,
}
"""Every dashboard by the name of its file."""


def as_text(board: Json) -> str:
    """Return the dashboard as it stands in its file."""
    return json.dumps(board, indent=1, ensure_ascii=False) + "\n"


def committed(name: str) -> str:
    """Return the text of the built file that the package carries."""
    return files("dashboards").joinpath("json", f"{name}.json").read_text(encoding="utf-8")


def write(folder: Path) -> list[Path]:
    """Write every dashboard into the folder; return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, build in DASHBOARDS.items():
        file = folder / f"{name}.json"
        file.write_text(as_text(build()), encoding="utf-8")
        written.append(file)
    return written


def push(grafana: GrafanaApi, *, folder_uid: str | None = None) -> list[str]:
    """Put every dashboard on the Grafana, over what stands there; return their addresses there.

    Raises PacewatchError where Grafana refuses or cannot be reached.
    """
    addresses = []
    for name, build in DASHBOARDS.items():
        wanted = {"dashboard": build(), "overwrite": True, "message": "pacewatch grafana push"}
        try:
            answer = grafana.dashboard.update_dashboard(  # type: ignore[no-untyped-call]
                wanted | ({"folderUid": folder_uid} if folder_uid else {})
            )
        except GrafanaException as error:
            raise PacewatchError(f"Grafana: dashboard {name} was not taken: {error}") from error
        except OSError as error:
            raise PacewatchError(
                f"Grafana does not answer: {_reason(error)} (--url names it)"
            ) from error
        addresses.append(str(answer["url"]))
    return addresses


def _reason(error: OSError) -> str:
    """Return the operating system's words from within the client's, where they are there."""
    found = re.search(r"\[Errno -?\d+\] ([^')]+)|(failed to resolve '[^']+')", str(error), re.I)
    return (found[1] or found[2]).lower() if found else str(error)


if __name__ == "__main__":
    write(Path(__file__).parent / "json")
