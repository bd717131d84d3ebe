"""The addresses of the timeline."""

from django.urls import include, path

from audit.pages.timeline import files, shown

patterns = [
    path("timeline", shown.index, name="index"),
    path("timeline.csv", files.as_csv, name="csv"),
    path("timeline.json", files.as_json, name="json"),
]
urlpatterns = [path("", include((patterns, "timeline")))]
