"""One module per area of the console: urlpatterns and views.

A page composes queries and components; a rule of the domain never lives here.
"""
