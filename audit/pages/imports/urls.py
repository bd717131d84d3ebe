"""The addresses of imports and exports."""

from django.urls import include, path

from audit.pages.imports import exports, listing, remedies, runs, uploads

patterns = [
    path("imports", listing.index, name="index"),
    path("imports/uploads", uploads.upload, name="upload"),
    path("imports/tasks/<uuid:job>", uploads.task, name="task"),
    path("imports/tasks/<uuid:job>/import", uploads.import_now, name="import_now"),
    path("imports/tasks/<uuid:job>/discard", uploads.discard, name="discard"),
    path("imports/findings/<uuid:finding>", runs.finding, name="finding"),
    path("imports/exports", exports.export, name="export"),
    path("imports/restore", exports.restore, name="restore"),
    path("imports/<uuid:run>", runs.run, name="run"),
    path("imports/<uuid:run>/reconciliation", remedies.reconciliation, name="reconciliation"),
    path("imports/<uuid:run>/undo", remedies.undo, name="undo"),
]
urlpatterns = [path("", include((patterns, "imports")))]
