"""What must hold for every file of the repository."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

KEYS = re.compile(
    r"sk-[A-Za-z0-9_-]{20,}|gsk_[A-Za-z0-9]{20,}|AKIA[0-9A-Z]{16}|AIza[0-9A-Za-z_-]{30,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----"
)


def _tracked() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def _texts() -> list[tuple[Path, str]]:
    found = []
    for file in _tracked():
        try:
            found.append((file, file.read_text(encoding="utf-8")))
        except UnicodeDecodeError:
            continue
    return found


def test_no_file_holds_a_key():
    for file, text in _texts():
        if file != Path(__file__):
            assert not KEYS.search(text), file


def test_the_lock_files_pin_with_hashes_and_name_no_index():
    for name in ("run", "dev"):
        text = (ROOT / "requirements" / f"{name}.lock").read_text()
        pins = re.findall(r"^[a-z0-9][^\n]*?==[^\n]*(?:\n[^\na-z0-9][^\n]*)*", text, re.MULTILINE)
        assert pins
        assert all("--hash=sha256:" in pin for pin in pins)
        assert not re.search(r"https?://|--(extra-)?index|--find-links", text)


def test_packages_say_what_they_are_and_do_nothing():
    for package in ("pacewatch", "probe", "aggregator", "dashboards"):
        for file in (ROOT / package).rglob("__init__.py"):
            lines = file.read_text().splitlines()
            code = [line for line in lines if line and not line.startswith(('"""', "__version__"))]
            assert lines[0].startswith('"""'), file
            assert code == [], file


@pytest.mark.parametrize("package", ["pacewatch", "probe", "aggregator", "dashboards"])
def test_rooms_stay_small(package):
    """A file that outgrows this is a question: are these two things?"""
    for file in (ROOT / package).rglob("*.py"):
        assert len(file.read_text().splitlines()) <= 340, file


def test_links_between_the_docs_lead_somewhere():
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    for page in pages:
        for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text("utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page}: {target}"


def test_every_decision_has_a_number_of_its_own_and_says_what_was_given_up():
    pages = sorted((ROOT / "docs/decisions").glob("*.md"))
    numbers = [page.name[:4] for page in pages]

    assert len(set(numbers)) == len(numbers)
    for page in pages:
        assert re.fullmatch(r"\d{4}-[a-z0-9-]+\.md", page.name)
        assert "given up" in page.read_text("utf-8").lower(), page


def test_the_index_links_every_page():
    text = (ROOT / "docs/index.md").read_text("utf-8")
    for page in (ROOT / "docs").rglob("*.md"):
        name = page.relative_to(ROOT / "docs").as_posix()
        assert name == "index.md" or f"]({name})" in text, name


def test_the_migrations_are_numbered_one_after_another():
    names = sorted(path.name for path in (ROOT / "aggregator/sql/migrations").glob("*.sql"))

    assert [int(name[:4]) for name in names] == list(range(1, len(names) + 1))
