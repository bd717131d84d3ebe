"""Pictures of the main pages for README, taken by a real browser from a demo of their own.

Invariants
- The demo is a start like any other: `manage.py up --demo` in a temporary home, entered by the link that it prints.
- No picture is heavier than MOST_BYTES; the folder gets all of them or none.
- They differ between two runs in what the clock and chance give: ages, instants of an import, a node's own key.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from audit.png import with_palette

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).resolve().parent.parent
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
CHROMIUM_ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--force-color-profile=srgb", "--font-render-hinting=none",
    "--disable-lcd-text", "--hide-scrollbars",
)  # fmt: skip
MOST_BYTES = 200_000
STOP_SECONDS = 30
STORY = "xz-2024"
IMPORTED = "demo.search-svc"
STATED = "digits"

Say = Callable[[str], None]


class NoPicture(Exception):
    """Pictures cannot be taken here; the text is one sentence for a person."""


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture: the address, what is done there first, and the part of the page that begins it ("" for its top)."""

    name: str
    address: str
    arrange: Callable[[Page], None] = lambda page: None
    begins_with: str = ""
    width: int = 1280
    height: int = 800
    scheme: Literal["light", "dark"] = "light"


def _open_first_row(page: Page) -> None:
    """The page that the first row of the list leads to."""
    page.goto(page.locator("[data-row] a").first.get_attribute("href") or "")


def _open_first_case(page: Page) -> None:
    """The conflict that waits longest."""
    page.goto(page.locator("main table a").first.get_attribute("href") or "")


def _verify(page: Page) -> None:
    """Have the log scanned, then back to its page."""
    page.get_by_role("button", name="Verify now").click()
    page.get_by_role("heading", name="Scan of the whole ledger").wait_for()
    page.goto(f"/ledger?ns={STORY}")


PICTURES = (
    Picture("overview", f"/?ns={STORY}"),
    Picture("as-of", f"/records?ns={STORY}&as_of=2024-03-29T16:00:00"),
    Picture("record", f"/records?ns={STORY}&type=summary&sort=recorded_at", _open_first_row),
    Picture(
        "lineage", f"/records?ns={IMPORTED}&q=%22note+1833%22&include=superseded", _open_first_row, "#lineage-region"
    ),
    Picture("entry", f"/ledger/32?ns={STORY}"),
    Picture("timeline", f"/timeline?ns={STORY}&subject=xz-5.6.1&attribute=safe_to_deploy"),
    Picture("conflict", f"/facts/conflicts?ns={STORY}", _open_first_case),
    Picture("facts", f"/facts?ns={STORY}&subject=xz"),
    Picture(
        "belief",
        f"/beliefs?ns={STORY}&valid_at=2024-03-30T12:45:00Z&known_at=2024-03-30T12:45:00Z",
        _open_first_case,
        height=1000,
    ),
    Picture("calibration", f"/calibration?ns={STATED}"),
    Picture("dead-ends", f"/tombstones?ns={STORY}&include=retired"),
    Picture("inbox", f"/inbox?ns={STORY}"),
    Picture("invariants", f"/laws?ns={STORY}"),
    Picture("erasure", f"/erasures?ns={STORY}", _open_first_row),
    Picture("run", f"/runs?ns={STORY}", _open_first_row),
    Picture("import", f"/imports?ns={IMPORTED}", _open_first_row),
    Picture("ledger-dark", f"/ledger?ns={STORY}", _verify, scheme="dark"),
    Picture("record-narrow", f"/records?ns={STORY}&type=summary&sort=recorded_at", _open_first_row, width=400),
)


def chromium_path() -> Path | None:
    """The browser of this machine, if it has one."""
    found = next((path for name in CHROMIUM_NAMES if (path := shutil.which(name))), None)
    return Path(found) if found else None


def take(folder: Path, *, say: Say) -> None:
    """Take all pictures into the folder.   Raises NoPicture."""
    path = chromium_path()
    if path is None:
        raise NoPicture(f"Pictures need a browser; none of {', '.join(CHROMIUM_NAMES)} is on the path.")
    try:
        from playwright.sync_api import Error, sync_playwright  # noqa: PLC0415 - of the development environment
    except ImportError as error:
        raise NoPicture("Pictures need the development environment, which `python3 manage.py test` makes.") from error
    say("Filling a demo.")
    with _demo() as link, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(CHROMIUM_ARGUMENTS))
        try:
            taken = _all_taken(browser, link)
        except Error as error:
            raise NoPicture(f"A page is not as its picture needs it: {error.message.splitlines()[0]}") from error
        finally:
            browser.close()
    folder.mkdir(parents=True, exist_ok=True)
    for name, picture in taken.items():
        (folder / f"{name}.png").write_bytes(picture)
        say(f"  {name}.png, {len(picture) / 1000:.0f} kB")


@contextmanager
def _demo() -> Iterator[str]:
    """A demo that serves, filled anew; gives the link that signs its first owner in.   Raises NoPicture."""
    with tempfile.TemporaryDirectory(prefix="palimpsest-pictures-") as folder:
        variables = {name: value for name, value in os.environ.items() if not name.startswith("PALIMPSEST_")}
        variables |= {"PALIMPSEST_HOME": str(Path(folder) / "home"), "PALIMPSEST_LOG_LEVEL": "ERROR"}
        command = [sys.executable, "manage.py", "up", "--demo", "--port", str(_free_port())]
        with subprocess.Popen(command, cwd=ROOT, env=variables, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
            try:
                yield _link(process)
            finally:
                process.send_signal(signal.SIGTERM)
                try:
                    process.wait(STOP_SECONDS)
                except subprocess.TimeoutExpired:
                    process.kill()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _link(process: subprocess.Popen[str]) -> str:
    """The first link that the start prints, once it serves.   Raises NoPicture."""
    assert process.stdout is not None
    link = ""
    for line in process.stdout:
        if "/sign-in/" in line:
            link = link or line.strip()
        if line.startswith("Palimpsest serves") and link:
            return link
    raise NoPicture("The demo did not start; `manage.py up --demo` says why.")


def _all_taken(browser: Browser, link: str) -> dict[str, bytes]:
    url = link.partition("/sign-in/")[0]
    with browser.new_context() as door:
        page = door.new_page()
        page.goto(link)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url("**/sign-in/password")
        state = door.storage_state()
    taken = {}
    for one in PICTURES:
        with browser.new_context(
            base_url=url, storage_state=state, viewport={"width": one.width, "height": one.height},
            color_scheme=one.scheme, reduced_motion="reduce",
        ) as context:  # fmt: skip
            taken[one.name] = _taken(context.new_page(), one)
    return taken


def _taken(page: Page, one: Picture) -> bytes:
    page.goto(one.address)
    one.arrange(page)
    if one.begins_with:
        page.locator(one.begins_with).evaluate("(part) => part.scrollIntoView({ block: 'start' })")
    page.wait_for_load_state("networkidle")
    picture = with_palette(page.screenshot(animations="disabled", caret="hide"))
    if len(picture) > MOST_BYTES:
        raise NoPicture(f"The picture {one.name} has {len(picture)} bytes, more than {MOST_BYTES}.")
    return picture
