"""The addresses of erasures."""

from django.urls import include, path

from audit.pages.erasures import closing, making, receipts

patterns = [
    path("erasures", receipts.index, name="index"),
    path("erasures/new", making.new, name="new"),
    path("erasures/close", closing.close, name="close"),
    path("erasures/<int:seq>", receipts.shown, name="detail"),
    path("erasures/<int:seq>.txt", receipts.commitments, name="commitments"),
]
urlpatterns = [path("", include((patterns, "erasures")))]
