"""The addresses of dead ends. Acts have the words of the API."""

from django.urls import include, path

from audit.pages.tombstones import acts, asking, burying, listing, shown

patterns = [
    path("tombstones", listing.index, name="index"),
    path("tombstones/new", burying.new, name="new"),
    path("tombstones/check", asking.check, name="check"),
    path("tombstones/<uuid:tombstone>", shown.detail, name="detail"),
    path("tombstones/<uuid:tombstone>/evidence", acts.evidence, name="evidence"),
    path("tombstones/<uuid:tombstone>/false-block", acts.false_block, name="false_block"),
    path("tombstones/<uuid:tombstone>/right-block", acts.right_block, name="right_block"),
    path("tombstones/<uuid:tombstone>/revive", acts.revive, name="revive"),
    path("tombstones/<uuid:tombstone>/retest", acts.retest, name="retest"),
    path("tombstones/<uuid:tombstone>/retire", acts.retire, name="retire"),
    path("tombstones/<uuid:tombstone>/keep", acts.keep, name="keep"),
    path("settings/false_block_limit", acts.limit, name="limit"),
]
urlpatterns = [path("", include((patterns, "tombstones")))]
