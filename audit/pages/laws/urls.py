"""The addresses of invariants."""

from django.urls import include, path

from audit.pages.laws import acts, board, compare, comparisons, detail, stores

patterns = [
    path("laws", board.index, name="index"),
    path("laws.csv", board.as_csv, name="csv"),
    path("laws.json", board.as_json, name="json"),
    path("laws/run", acts.run_all, name="run_all"),
    path("laws/runs/<uuid:job>", acts.task, name="task"),
    path("laws/compare", compare.records, name="compare"),
    path("laws/stores", stores.index, name="stores"),
    path("laws/comparisons/<uuid:job>", comparisons.comparison, name="comparison"),
    path("laws/<str:name>", detail.shown, name="detail"),
    path("laws/<str:name>/run", acts.run, name="run"),
    path("laws/<str:name>/waive", acts.waive, name="waive"),
]
urlpatterns = [path("", include((patterns, "laws")))]
