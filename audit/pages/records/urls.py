"""The addresses of records."""

from django.urls import include, path

from audit.pages.records import exports, listing

patterns = [
    path("records", listing.index, name="index"),
    path("records.csv", exports.as_csv, name="csv"),
    path("records.json", exports.as_json, name="json"),
]
urlpatterns = [path("", include((patterns, "records")))]
