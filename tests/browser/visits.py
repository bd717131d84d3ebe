"""Pages that a test opens: who is signed in, what they complain about, what the checker of accessibility finds."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, Response

from memory.agents.accounts import sign_in_path
from memory.base.actor import Actor

PARTS_OF_A_PAGE = frozenset({"stylesheet", "script", "image", "font", "manifest"})
GRAVE = frozenset({"serious", "critical"})
# The rules of axe whose answer depends on the colour scheme.
RULES_OF_COLOUR = ("color-contrast", "link-in-text-block")

# A colour that goes over into another is neither for a moment, and what inherits it follows only then.
SETTLED = """async () => {
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    for (let quiet = 0; quiet < 3; quiet += 1) {
        await frame();
        if (document.getAnimations().some((one) => one.playState === "running")) quiet = 0;
    }
}"""


class Visits:
    """The contexts of one test and all that went wrong in them."""

    def __init__(self, chromium: Browser, site: str) -> None:
        self.chromium = chromium
        self.site = site
        self.complaints: list[str] = []
        self._contexts: list[BrowserContext] = []

    def open(self, person: Actor | None = None, *, expects: Sequence[str] = (), **options: Any) -> Page:
        """A blank page in a fresh context, in which the person is signed in.

        expects : what messages of the console may hold: a refusal or a lost reply that the test brings about itself.
        options : of the context: viewport, color_scheme, java_script_enabled and the like.
        """
        given = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce", **options}
        context = self.chromium.new_context(base_url=self.site, **given)
        context.set_default_timeout(20_000)
        self._contexts.append(context)
        if person is not None:
            context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session_of(person), "url": self.site}])
        page = context.new_page()
        page.on("pageerror", lambda error: self._note(page, str(error), expects))
        page.on("console", partial(self._hear, page, expects))
        page.on("response", partial(self._look, page, expects))
        page.on("requestfailed", partial(self._miss, page))
        return page

    def close(self) -> None:
        for context in self._contexts:
            context.close()

    def _note(self, page: Page, complaint: str, expects: Sequence[str] = ()) -> None:
        if not any(words in complaint for words in expects):
            self.complaints.append(f"{page.url}: {complaint}")

    def _hear(self, page: Page, expects: Sequence[str], message: ConsoleMessage) -> None:
        # An answer of 4xx or 5xx is logged so; `_look` judges it with its status.
        if message.type == "error" and "Failed to load resource" not in message.text:
            self._note(page, message.text, expects)

    def _look(self, page: Page, expects: Sequence[str], response: Response) -> None:
        is_part = response.request.resource_type in PARTS_OF_A_PAGE
        if response.status >= 500 or (is_part and response.status >= 400):
            self._note(page, f"{response.status} {response.url}", expects)

    def _miss(self, page: Page, request: Request) -> None:
        if request.resource_type in PARTS_OF_A_PAGE:
            self._note(page, f"{request.failure} {request.url}")


def session_of(person: Actor) -> str:
    """The key of a new session of the person."""
    client = Client()
    client.force_login(User.objects.get(pk=person.person or 0))
    return str(client.cookies[settings.SESSION_COOKIE_NAME].value)


def come_in(page: Page, person: Actor) -> None:
    """Follow a one-time link of the person and press its button, as in life."""
    page.goto(sign_in_path(User.objects.get(pk=person.person or 0)))
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/sign-in/password")


def grave_findings(page: Page, *, rules: Sequence[str] = (), but: Sequence[str] = ()) -> list[str]:
    """What axe finds serious or critical in the page as it stands: rule, place, and why.

    rules : only these; all if none is named.
    but   : not these.
    """
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(f"() => {{ {AXE_SCRIPT} }}")
    options: dict[str, Any] = {"resultTypes": ["violations"], "selectors": False}
    options["rules"] = {rule: {"enabled": False} for rule in but}
    if rules:
        options["runOnly"] = {"type": "rule", "values": list(rules)}
    found = page.evaluate("options => window.axe.run(document, options)", options)["violations"]
    return [
        f"{one['id']} at {node['html']}: {node['failureSummary']}"
        for one in found
        if one["impact"] in GRAVE
        for node in one["nodes"]
    ]


def grave_findings_in_the_dark(page: Page) -> list[str]:
    """The same page in the dark scheme, by the rules that look at colours; the others would say what they said."""
    page.emulate_media(color_scheme="dark")
    page.evaluate(SETTLED)
    return [f"dark: {finding}" for finding in grave_findings(page, rules=RULES_OF_COLOUR)]


def overflow(page: Page) -> list[str]:
    """What makes the page scroll sideways: empty if nothing does."""
    return list(
        page.evaluate(
            """() => {
                const width = document.documentElement.clientWidth;
                if (document.documentElement.scrollWidth <= width) return [];
                const wide = [...document.body.querySelectorAll("*")].filter((element) => {
                    const box = element.getBoundingClientRect();
                    return box.width && box.right > width + 0.5 && !element.closest(".table-scroll, svg, pre");
                });
                const name = (element) => `${element.tagName.toLowerCase()}.${element.getAttribute("class") ?? ""}`;
                return ["the page is wider than its window:", ...wide.slice(-3).map(name)];
            }"""
        )
    )
