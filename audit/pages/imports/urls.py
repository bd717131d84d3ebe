"""The addresses of imports."""

from django.urls import include, path

from audit.pages.imports import runs, uploads

patterns = [
    path("imports", uploads.index, name="index"),
    path("imports/uploads", uploads.upload, name="upload"),
    path("imports/tasks/<uuid:job>", uploads.task, name="task"),
    path("imports/tasks/<uuid:job>/import", uploads.import_now, name="import_now"),
    path("imports/tasks/<uuid:job>/discard", uploads.discard, name="discard"),
    path("imports/findings/<uuid:finding>", runs.finding, name="finding"),
    path("imports/<uuid:run>", runs.run, name="run"),
]
urlpatterns = [path("", include((patterns, "imports")))]
