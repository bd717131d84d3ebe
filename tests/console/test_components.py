"""Components print what they are given: errors with what was expected, absences by their word, all of it escaped."""

import pytest
from django.template.loader import render_to_string
from django.test import Client, RequestFactory

from audit.components import (
    Column,
    Definition,
    FilterPart,
    Pager,
    Problem,
    ProblemError,
    Progress,
    VerdictStep,
    columns,
    sortable_columns,
)
from audit.navigation import AsOfReading, Frame, Link
from audit.pages.gallery import READ_AT, VerdictForm

HOSTILE = '"><script>alert(1)</script>'


def component(name: str, **values: object) -> str:
    return render_to_string(f"components/_{name}.html", values)


@pytest.fixture
def gallery(settings: object) -> Client:
    settings.DEBUG = True  # type: ignore[attr-defined]
    return Client()


def frame(**changes: object) -> Frame:
    values = {
        "read_at": READ_AT,
        "environment": "test",
        "namespace": "acme",
        "as_of": AsOfReading("/records"),
    } | changes
    return Frame(**values)  # type: ignore[arg-type]


def test_the_gallery_is_not_served_outside_debug(client: Client) -> None:
    assert client.get("/gallery").status_code == 404


@pytest.mark.parametrize("variant", ["now", "past", "provisional", "source", "stopped", "auditor", "no_point"])
def test_every_frame_of_the_gallery_renders(gallery: Client, variant: str) -> None:
    page = gallery.get("/gallery", {"frame": variant})
    assert page.status_code == 200
    assert b"{{" not in page.content
    assert b"{%" not in page.content.replace(b"{% state_badge", b"")


def test_the_past_is_named_in_the_bar_and_above_the_page(gallery: Client) -> None:
    text = gallery.get("/gallery", {"frame": "past"}).content.decode()
    assert "You see what was true on <strong>1 Nov 2026</strong>" in text
    assert "Writing is off" in text
    assert "Back to now" in text
    assert "You look at the past; nothing can be written there." in text


def test_a_provisional_point_and_a_reading_of_the_source_carry_their_marks(gallery: Client) -> None:
    assert "more may still be recorded for this time" in gallery.get("/gallery?frame=provisional").content.decode()
    assert "claimed by the source, not proven here" in gallery.get("/gallery?frame=source").content.decode()


def test_an_auditor_meets_neither_a_write_control_nor_its_refusal() -> None:
    assert (
        component("write_refusal", frame=frame(shows_writes=False, can_write=False, write_refusal="no")).count("<p")
        == 0
    )
    assert "no" in component("write_refusal", frame=frame(shows_writes=True, can_write=False, write_refusal="no"))


def test_the_page_of_an_error_needs_no_frame() -> None:
    problem = {"status": 500, "title": "Internal error", "detail": "", "code": "internal", "request_id": "req_1"}
    text = render_to_string("problem.html", {"problem": problem}, RequestFactory().get("/records"))
    assert "Internal error" in text
    assert "req_" in text
    assert "rail" not in text.split("</head>")[1].split("<main")[0]


def test_an_error_says_where_and_what_was_expected_and_got() -> None:
    problem = Problem(
        status=422,
        title="Nothing was recorded",
        errors=(ProblemError("valid_from", "not_before", "an instant before valid_to", HOSTILE),),
        ways_on=(Link("Back", "/facts"),),
    )
    text = component("problem", problem=problem)
    for words in ("valid_from", "not_before", "an instant before valid_to", "&lt;script&gt;", 'href="/facts"'):
        assert words in text
    assert "<script" not in text


def test_a_failed_step_shows_expected_and_got_and_keeps_its_own_verdict() -> None:
    steps = (VerdictStep("content", "erased"), VerdictStep("path", "failed", expected="aa", got="bb"))
    text = component("verdict_rows", steps=steps)
    assert text.count('data-verdict="') == 2
    assert "erased" in text
    assert ">aa<" in text
    assert ">bb<" in text


def test_a_value_that_was_not_given_is_printed_as_not_recorded() -> None:
    assert "not recorded" in component("definitions", rows=(Definition("Asked by", None),))
    assert "not recorded" not in component("definitions", rows=(Definition("Asked by", ""),))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"kind": "nothing_yet", "title": "No records yet", "how": "An agent saves one."}, "An agent saves one."),
        ({"kind": "no_match", "words": "agent is scout", "clear_url": "/records"}, "No row where agent is scout."),
        ({"kind": "not_then", "first": Link("12 Oct 2026", "?known_at=seq:1")}, "There is content from"),
    ],
    ids=["nothing yet", "no match", "not then"],
)
def test_the_three_empty_states_differ_in_mark_and_words(values: dict[str, object], words: str) -> None:
    others = {"nothing_yet", "no_match", "not_then"} - {str(values["kind"])}
    text = component("empty", **values)
    assert words in text
    for other in others:
        assert component("empty", kind=other).split("</svg>")[0].split("aria-hidden")[1] not in text


def test_a_filter_can_be_taken_away_part_by_part_and_is_announced() -> None:
    text = component("filter_line", total_text="12 rows", parts=(FilterPart("agent is scout", "?type=note"),))
    assert 'href="?type=note"' in text
    assert 'aria-label="Remove the filter: agent is scout"' in text
    assert 'data-announce="12 rows, filtered by agent is scout"' in text


def test_sorting_starts_descending_and_turns_where_it_is_sorted() -> None:
    heads = sortable_columns(
        {"at": "recorded at", "n": "n"}, current="-at", url_of="?sort={}".format, numbers=frozenset("n")
    )
    assert heads == (
        Column("recorded at", "?sort=at", "descending"),
        Column("n", "?sort=-n", None, is_number=True),
    )
    text = component("table_head", columns=heads + columns("state"))
    assert text.count("aria-sort") == 1
    assert 'aria-sort="descending"' in text


def test_a_pager_without_another_side_shows_none_and_with_one_names_it() -> None:
    assert "<nav" not in component("pager", pager=Pager())
    text = component("pager", pager=Pager(older_url="?after=x"))
    assert 'rel="next" href="?after=x"' in text
    assert 'rel="prev"' not in text


@pytest.mark.parametrize(
    ("done", "total", "percent"), [(0, 10, 0), (1, 3, 33), (12, 10, 100), (5, None, None), (0, 0, None)]
)
def test_progress_is_a_share_only_where_the_total_is_known(done: int, total: int | None, percent: int | None) -> None:
    progress = Progress("Import", done, total, "rows", "running")
    assert progress.percent == percent
    assert ("value=" in component("progress", progress=progress)) == (percent is not None)


def test_a_paused_or_finished_task_is_not_polled() -> None:
    progress = Progress("Import", 1, 10, "rows", "running")
    assert 'hx-trigger="every 2s"' in component("progress", progress=progress, poll_url="/imports/1")
    assert "hx-trigger" not in component("progress", progress=progress, poll_url="/imports/1", is_paused=True)
    assert "hx-trigger" not in component("progress", progress=progress)


def test_a_wrong_field_is_described_by_its_error_and_linked_from_the_summary() -> None:
    form = VerdictForm({"verdict": "keep_a", "reason": ""})
    text = component("field", field=form["reason"])
    assert 'aria-invalid="true"' in text
    assert 'aria-describedby="id_reason_helptext id_reason_error"' in text
    assert 'id="id_reason_error"' in text
    assert 'id="id_reason_helptext"' in text
    assert 'href="#id_reason"' in component("form_errors", form=form)


def test_a_stale_form_shows_what_stands_now_beside_the_draft() -> None:
    text = component("stale", what="The rule", current_url="/rules/1", draft="limit 200", current="limit 100")
    assert "<del>100</del>" in text
    assert "<ins>200</ins>" in text
    assert "stale_version" in text


def test_a_confirmation_names_the_object_and_carries_the_version_and_the_token() -> None:
    request = RequestFactory().get("/")
    values = {
        "id": "erase",
        "trigger": "Erase…",
        "title": f"Erase {HOSTILE}",
        "action_url": "/erasures",
        "button": "Erase for ever",
        "version": "6",
        "typed": "customer 4411",
    }
    text = render_to_string("components/_confirm.html", values, request)
    assert 'name="version" value="6"' in text
    assert "csrfmiddlewaretoken" in text
    assert 'popovertarget="erase"' in text
    assert "<script" not in text


def test_a_diff_prints_both_texts_without_a_space_of_its_own() -> None:
    text = component("diff", before="a\nb <i>", after="a\nc <i>")
    assert "<pre>a\n<del>b</del><ins>c</ins> &lt;i&gt;</pre>" in text
    split = component("diff", before="a b", after="a c", view="split")
    assert "<pre>a <del>b</del></pre><pre>a <ins>c</ins></pre>" in split
