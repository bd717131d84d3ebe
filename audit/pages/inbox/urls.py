"""The addresses of the Inbox."""

from django.urls import include, path

from audit.pages.inbox import acts, listing

patterns = [
    path("inbox", listing.index, name="index"),
    path("inbox.json", listing.as_json, name="json"),
    path("inbox/review", acts.review, name="review"),
]
urlpatterns = [path("", include((patterns, "inbox")))]
