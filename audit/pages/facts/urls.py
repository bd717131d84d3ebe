"""The addresses of facts."""

from django.urls import include, path

from audit.pages.facts import conflicts, detail, drawn, listing, verbs, verdicts

patterns = [
    path("facts", listing.index, name="index"),
    path("facts.csv", listing.as_csv, name="csv"),
    path("facts.json", listing.as_json, name="json"),
    path("facts/new", verbs.new, name="new"),
    path("facts/conflicts", conflicts.index, name="conflicts"),
    path("facts/conflicts/<uuid:case>", conflicts.case, name="case"),
    path("facts/conflicts/<uuid:case>/verdict", verdicts.verdict, name="verdict"),
    path("facts/conflicts/<uuid:case>/preview", verdicts.preview, name="preview"),
    path("facts/<uuid:fact>", detail.shown, name="detail"),
    path("facts/<uuid:fact>/supersede", verbs.supersede, name="supersede"),
    path("facts/<uuid:fact>/retract", verbs.retract, name="retract"),
    path("records/<uuid:record>/facts", drawn.shown, name="drawn"),
]
urlpatterns = [path("", include((patterns, "facts")))]
