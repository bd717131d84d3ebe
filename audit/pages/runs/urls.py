"""The addresses of runs."""

from django.urls import include, path

from audit.pages.runs import listing, story

patterns = [
    path("runs", listing.index, name="index"),
    path("runs.csv", listing.as_csv, name="csv"),
    path("runs.json", listing.as_json, name="json"),
    path("runs/<uuid:run>", story.detail, name="detail"),
]
urlpatterns = [path("", include((patterns, "runs")))]
