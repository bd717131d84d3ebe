"""The REST API: where the routes of the slices are mounted, who a request is, and how it is refused.

Invariants
- A route does nothing but call an operation or a query; what holds for all of them stands here.
- A Bearer token is an agent, a session is a person; a person's unsafe request must carry the CSRF token.
- Every refusal, whoever raised it, is a problem document with a code of the one table.

Decided: routes are declared by `memory.base.doors`, so that the document of the API and the checks in front of a route
cannot differ. Rejected: viewsets generated from models; a table is no contract.
"""
