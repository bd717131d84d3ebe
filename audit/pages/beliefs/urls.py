"""The addresses of beliefs."""

from django.urls import include, path

from audit.pages.beliefs import graph, listing, observation, relation, revoking

patterns = [
    path("beliefs", listing.index, name="index"),
    path("beliefs/graph", graph.graph, name="graph"),
    path("beliefs/graph.json", graph.as_json, name="graph_json"),
    path("beliefs/graph.csv", graph.as_csv, name="graph_csv"),
    path("beliefs/saved/<uuid:saved>", graph.saved, name="saved"),
    path("beliefs/observations", listing.find, name="find"),
    path("beliefs/observations/<uuid:observation_id>", observation.shown, name="observation"),
    path("beliefs/observations/<uuid:observation_id>.csv", observation.as_csv, name="observation_csv"),
    path("beliefs/observations/<uuid:observation_id>/revoke", revoking.revoke, name="revoke"),
    path("beliefs/relations/<path:relation_type>", relation.shown, name="relation"),
]
urlpatterns = [path("", include((patterns, "beliefs")))]
