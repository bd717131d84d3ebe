"""Every address of the site. Errors that no view answered go to `audit.problems`."""

from django.urls import path

from audit import health
from audit.pages import gallery, overview, search, sign_in
from audit.pages.agents import urls as agents
from audit.pages.beliefs import urls as beliefs
from audit.pages.calibration import urls as calibration
from audit.pages.erasures import urls as erasures
from audit.pages.facts import urls as facts
from audit.pages.imports import urls as imports
from audit.pages.inbox import urls as inbox
from audit.pages.laws import urls as laws
from audit.pages.ledger import urls as ledger
from audit.pages.records import urls as records
from audit.pages.runs import urls as runs
from audit.pages.timeline import urls as timeline
from audit.pages.tombstones import urls as tombstones
from memory.api.site import api

urlpatterns = [
    *sign_in.urlpatterns,
    *overview.urlpatterns,
    *inbox.urlpatterns,
    *records.urlpatterns,
    *facts.urlpatterns,
    *timeline.urlpatterns,
    *tombstones.urlpatterns,
    *beliefs.urlpatterns,
    *calibration.urlpatterns,
    *runs.urlpatterns,
    *ledger.urlpatterns,
    *laws.urlpatterns,
    *agents.urlpatterns,
    *imports.urlpatterns,
    *erasures.urlpatterns,
    *search.urlpatterns,
    *gallery.urlpatterns,
    path("api/v1/", api.urls),
    path("healthz", health.alive, name="healthz"),
    path("readyz", health.ready, name="readyz"),
]

handler400 = "audit.problems.bad_request"
handler403 = "audit.problems.permission_denied"
handler404 = "audit.problems.page_not_found"
handler500 = "audit.problems.server_error"
