"""The addresses of agents and people. Tokens, members, settings and the hold have the words of the API."""

from django.urls import include, path

from audit.pages.agents import people, tokens

patterns = [
    path("agents", tokens.index, name="index"),
    path("agents/new", tokens.connect, name="connect"),
    path("agents/<uuid:agent>/tokens", tokens.issue, name="issue"),
    path("agents/<uuid:agent>/freeze", tokens.freeze, name="freeze"),
    path("agents/<uuid:agent>/unfreeze", tokens.unfreeze, name="unfreeze"),
    path("agents/<uuid:agent>/first", tokens.first, name="first"),
    path("tokens/<uuid:token>/rotate", tokens.rotate, name="rotate"),
    path("tokens/<uuid:token>/revoke", tokens.revoke, name="revoke"),
    path("members", people.invite, name="invite"),
    path("members/<int:person>/role", people.role, name="role"),
    path("settings/approval_mode", people.approval_mode, name="approval_mode"),
    path("settings/review_policy", people.review_policy, name="review_policy"),
    path("settings/retention", people.retention, name="retention"),
    path("hold", people.hold, name="hold"),
    path("hold/lift", people.lift, name="lift"),
]
urlpatterns = [path("", include((patterns, "agents")))]
