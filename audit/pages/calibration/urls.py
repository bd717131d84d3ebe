"""The addresses of calibration. Acts have the words of the API."""

from django.urls import include, path

from audit.pages.calibration import alarm, listing, segment

SEGMENT = "calibration/segments/<uuid:run>/<uuid:relation_type>/<uuid:source_family>"

patterns = [
    path("calibration", listing.index, name="index"),
    path("calibration.csv", listing.as_csv, name="csv"),
    path(SEGMENT, segment.shown, name="segment"),
    path(f"{SEGMENT}.csv", segment.as_csv, name="segment_csv"),
    path("calibration/alarms/<uuid:alarm>", alarm.detail, name="alarm"),
    path("calibration/alarms/<uuid:alarm>.csv", alarm.as_csv, name="alarm_csv"),
    path("calibration/alarms/<uuid:alarm>/acknowledge", alarm.acknowledge, name="acknowledge"),
    path("calibration/alarms/<uuid:alarm>/close", alarm.close, name="close"),
]
urlpatterns = [path("", include((patterns, "calibration")))]
