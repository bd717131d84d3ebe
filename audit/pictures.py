"""Pictures of the main pages, taken by a real browser."""

import shutil
from pathlib import Path

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
CHROMIUM_ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--force-color-profile=srgb", "--font-render-hinting=none",
    "--disable-lcd-text",
)  # fmt: skip


def chromium_path() -> Path | None:
    """The browser of this machine, if it has one."""
    found = next((path for name in CHROMIUM_NAMES if (path := shutil.which(name))), None)
    return Path(found) if found else None
