"""The lineage of a record as files: the drawing with its style, and the whole as PROV-JSON; both state their caps."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.views.decorators.http import require_safe

from audit.access import Visit, page
from audit.frame import in_url
from audit.pages import lineage
from audit.pages.lineage_address import asked
from memory.base.errors import Invalid
from memory.interchange.exporting import provenance
from memory.interchange.slices import Selection
from memory.lineage.queries.comparing import other_point
from memory.lineage.queries.graph import (
    MOST_COUNTED,
    MOST_DEPTH,
    MOST_LINKS,
    MOST_NODES,
    GraphLink,
    graph,
    whole_lineage,
)

STYLES = ("tokens.css", "charts.css")
CAPS = {"nodes": MOST_NODES, "links": MOST_LINKS, "depth": MOST_DEPTH}


@require_safe
@page("records")
def as_svg(request: HttpRequest, visit: Visit, record: UUID) -> HttpResponseBase:
    """The drawing of the slice as a file that carries its style."""
    given = asked(request, record)
    drawn = lineage.graph_of(visit, given, lineage.read(visit, given))
    style = "\n".join((Path(settings.STATICFILES_DIRS[0]) / "css" / name).read_text("utf-8") for name in STYLES)
    svg, refused = lineage.drawing(drawn, style=style, swap_target="")
    if refused:
        raise Invalid(refused)
    response = HttpResponse(svg, content_type="image/svg+xml; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="lineage-{record}-seq-{visit.at.seq}.svg"'
    return response


@require_safe
@page("records")
def as_json(request: HttpRequest, visit: Visit, record: UUID) -> HttpResponseBase:
    """The whole lineage: the document of an export with this focus, and beside it the caps of the drawing."""
    given = asked(request, record)
    found = graph(visit.at, focus=record, up=0, down=0, groups=given.groups)
    links = whole_lineage(visit.at, focus=record, groups=given.groups)[:MOST_COUNTED]
    told: dict[str, Any] = {
        "namespace": visit.namespace, "focus": str(record), "seq": visit.at.seq,
        "valid_at": in_url(visit.at.valid_at), "n_nodes": found.n_nodes, "n_links": found.n_links,
        "truncated": found.is_capped, "drawing_caps": CAPS, "hidden": dict(found.hidden),
    }  # fmt: skip
    if visit.at.source_at is not None:
        told["claimed_by_the_source_at"] = in_url(visit.at.source_at)
    if given.against:
        before = other_point(visit.at, given.against)
        known = set(whole_lineage(before, focus=record, groups=given.groups))
        told["against"] = {
            "seq": before.seq, "provisional": before.provisional,
            "added_links": [_ends(link) for link in links if link not in known],
            "removed_links": [_ends(link) for link in sorted(known - set(links), key=str)],
        }  # fmt: skip
    document = provenance(visit.at, Selection(focus=record, groups=given.groups, may_be_cut=True))
    return JsonResponse({**document, "palimpsest": told}, json_dumps_params={"ensure_ascii": False})


def _ends(link: GraphLink) -> Mapping[str, str]:
    return {"older": str(link.older), "newer": str(link.newer), "relation": link.relation}
