"""The addresses of the ledger."""

from django.urls import include, path

from audit.pages.ledger import checkpoints, checks, entry, listing

patterns = [
    path("ledger", listing.index, name="index"),
    path("ledger.csv", listing.as_csv, name="csv"),
    path("ledger.json", listing.as_json, name="json"),
    path("ledger/verifier.py", entry.verifier_script, name="verifier"),
    path("ledger/verify", checks.verify, name="verify"),
    path("ledger/scans/<uuid:job>", checks.scan, name="scan"),
    path("ledger/checks/<uuid:run>", checks.check, name="check"),
    path("ledger/checkpoint", checkpoints.sign, name="sign"),
    path("ledger/checkpoints", checkpoints.index, name="checkpoints"),
    path("ledger/checkpoints/compare", checkpoints.compare, name="compare"),
    path("ledger/checkpoints/<int:seq>.txt", checkpoints.text, name="checkpoint_text"),
    path("ledger/<int:seq>", entry.index, name="entry"),
    path("ledger/<int:seq>/consistency", entry.consistency, name="consistency"),
    path("ledger/<int:seq>/proof.json", entry.proof, name="proof"),
]
urlpatterns = [path("", include((patterns, "ledger")))]
