"""Taking a copy out and bringing an archive back: two forms of the page of imports and exports."""

from tempfile import TemporaryFile
from typing import BinaryIO, cast

from django.http import FileResponse, HttpRequest, HttpResponseBase, HttpResponseRedirect

from audit import recorded
from audit.access import Visit, page, problem_of
from audit.pages.imports.forms import ExportForm, RestoreForm
from audit.pages.imports.listing import listed
from audit.posting import posted
from memory.base.errors import DomainError
from memory.interchange.erased_lists import read_list
from memory.interchange.exporting import MEDIA, file_name
from memory.interchange.operations import export_file, restore_archive


@posted("/imports")
@page("imports", power="read")
def export(request: HttpRequest, visit: Visit) -> HttpResponseBase:
    """Take a copy out. It is an act: the ledger says that the file left the house."""
    form = ExportForm(request.POST)
    if not form.is_valid():
        return listed(request, visit, export_form=form)
    stream = cast(BinaryIO, TemporaryFile())  # noqa: SIM115 - the answer closes it
    try:
        given = form.cleaned_data
        done, _ = export_file(
            visit.actor, visit.at, stream, format=given["format"],
            selection=form.selection(visit.at.namespace),
        )  # fmt: skip
    except DomainError as error:
        stream.close()
        return listed(request, visit, export_form=form, export_problem=problem_of(request, error))
    name = file_name(visit.namespace, done)
    return FileResponse(stream, as_attachment=True, filename=name, content_type=MEDIA[done.format])


@posted("/imports")
@page("imports", power="own")
def restore(request: HttpRequest, visit: Visit) -> HttpResponseBase:
    """Bring an archive back, whole or not at all."""
    form = RestoreForm(request.POST, request.FILES, prefix="restore")
    if not form.is_valid():
        return listed(request, visit, restore_form=form)
    given = form.cleaned_data
    try:
        erased = read_list(given["erased"]) if given["erased"] else frozenset()
        done = restore_archive(visit.once(given["key"]), given["archive"], erased=erased)
    except DomainError as error:
        return listed(request, visit, restore_form=form, restore_problem=problem_of(request, error))
    kept = f"; {done.n_erased} erased parts did not come back" if done.n_erased else ""
    words = f"{done.namespace}: {done.size} entries restored{kept}"
    recorded.tell(request, words, seq=done.seq or 0, replayed=done.replayed)
    return HttpResponseRedirect(f"/imports{visit.carry}")
