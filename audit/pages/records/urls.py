"""The addresses of records."""

from django.urls import include, path

from audit.pages import lineage_files
from audit.pages.records import comparing, compiled, detail, exports, joining, listing, verbs

patterns = [
    path("records", listing.index, name="index"),
    path("records.csv", exports.as_csv, name="csv"),
    path("records.json", exports.as_json, name="json"),
    path("records/<uuid:record>", detail.shown, name="detail"),
    path("records/<uuid:record>/versions", detail.versions, name="versions"),
    path("records/<uuid:record>/entries", detail.entries, name="entries"),
    path("records/<uuid:record>/source", detail.source, name="source"),
    path("records/compiled", compiled.index, name="compiled"),
    path("records/compare", comparing.compare, name="compare"),
    path("records/<uuid:record>/diff", comparing.diff, name="diff"),
    path("records/<uuid:record>/suggestions", comparing.offers, name="suggestions"),
    path("records/<uuid:record>/link", joining.link, name="link"),
    path("records/<uuid:record>/merge", joining.merge, name="merge"),
    path("records/<uuid:record>/settle", joining.settle, name="settle"),
    path("records/<uuid:record>/withdraw", verbs.withdraw, name="withdraw"),
    path("records/<uuid:record>/restore", verbs.restore, name="restore"),
    path("records/<uuid:record>/evolve", verbs.evolve, name="evolve"),
    path("records/<uuid:record>/supersede", verbs.supersede, name="supersede"),
    path("records/<uuid:record>/rebuild", compiled.rebuild, name="rebuild"),
    path("records/<uuid:record>/lineage.svg", lineage_files.as_svg, name="lineage_svg"),
    path("records/<uuid:record>/lineage.json", lineage_files.as_json, name="lineage_json"),
    path("records/<str:prefix>", detail.resolved, name="resolved"),
]
urlpatterns = [path("", include((patterns, "records")))]
