"""The demo's own file: two regions, found at the simulator's addresses."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from pacewatch.stack.ports import kept_port
from pacewatch.stack.state import DEMO_FILE, make_folder, write_private

DEMO_REGIONS = ("eu-west", "us-east")

PAGING = ("cerebras/gpt-oss-120b", "groq/llama-3.3-70b")
"""The demo's endpoints of importance `page`: they have sentinels, and their incidents page."""

HEAD = "# Written by `pacewatch up --demo` at each start.\n"
"""How the demo's file begins."""


def demo_ports(state: Path, regions: Iterable[str]) -> dict[str, int]:
    """Return the port of each region's simulated providers, the same at each start."""
    folder = state / "ports"
    make_folder(folder, 0o700)
    return {region: kept_port(folder / region) for region in regions}


def write_demo(state: Path, ports: Mapping[str, int], notify: str | None = None) -> Path:
    """Write the demo's file and return where it is.

    `notify` names the variable that holds the address which is told of incidents; None: nobody.
    """
    lines = ["[importance]\n", *(f'"{endpoint}" = "page"\n' for endpoint in PAGING)]
    lines += ["\n[simulator]\n"]
    lines += [f'{region} = "http://127.0.0.1:{port}"\n' for region, port in ports.items()]
    if notify is not None:
        lines.append(f'\n[notify.demo]\nurl_env = "{notify}"\n')
    write_private(state / DEMO_FILE, HEAD + "".join(lines))
    return state / DEMO_FILE
