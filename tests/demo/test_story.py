"""The story as it is written: lines with their sources, acts with their mark, one order of play."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.demo import facts
from audit.demo.acts import acts, placeholder_contact
from audit.demo.cast import AGENTS, BY_NAME, PEOPLE, principal
from audit.demo.lines import EMBARGO_ENDS, LineFault, id_of, played, read_lines, record_of, story_lines
from audit.demo.loading import SYSTEM
from audit.demo.steps import Answered, Step, StepFault, filled, filled_path, needs
from audit.demo.story import line_steps, merged, story

A_LINE = {
    "when": "2024-03-09", "precision": "day", "kind": "release", "subject": "xz", "text": "Upstream publishes 5.6.1.",
    "source": "https://example.org/a", "source_class": "relayed", "seen": True,
}  # fmt: skip


def instant(month: int, day: int, hour: int = 0, minute: int = 0, second: int = 0, micro: int = 0) -> datetime:
    return datetime(2024, month, day, hour, minute, second, micro, tzinfo=UTC)


@pytest.fixture(scope="module")
def by_key() -> dict[str, Step]:
    return {step.key: step for step in story()}


def test_there_are_eighty_lines_and_each_becomes_one_record() -> None:
    steps = line_steps(story_lines())
    assert [step.key for step in steps] == [f"L{number:02d}" for number in range(1, 81)]
    assert {(step.method, step.path) for step in steps} == {("POST", "records")}
    assert len({step.body["id"] for step in steps}) == 80


def test_every_line_names_a_source_with_a_host() -> None:
    assert [line.key for line in story_lines() if not line.host] == []


@pytest.mark.parametrize("source", [None, "", "   ", "hearsay", "example.org/a"])
def test_a_line_without_a_source_is_refused(source: str | None) -> None:
    fields = {name: value for name, value in A_LINE.items() if name != "source"}
    text = json.dumps(fields if source is None else {**fields, "source": source})
    with pytest.raises(LineFault, match="Line 1 names no source"):
        read_lines(text)


@pytest.mark.parametrize("when", ["", "soon", "2024-13-01"])
def test_a_line_without_a_time_is_refused(when: str) -> None:
    with pytest.raises(LineFault, match="Line 1 names no time"):
        read_lines(json.dumps({**A_LINE, "when": when}))


def test_a_line_becomes_the_record_that_its_columns_say(by_key: dict[str, Step]) -> None:
    assert by_key["L07"].body == {
        "id": str(id_of("L07")),
        "type": "release",
        "content": "Upstream publishes 5.6.1.",
        "valid_from": "2024-03-09T00:00:00Z",
        "source": {
            "class": "relayed",
            "origin": "en.iguru.gr",
            "pointer": "https://en.iguru.gr/synagermos-apo-red-hat-backdoor-sto/",
        },
    }


def test_what_was_not_reread_is_tagged_and_nothing_else_is(by_key: dict[str, Step]) -> None:
    tagged = {line.key for line in story_lines() if by_key[line.key].body.get("tags") == ["not-reseen"]}
    assert tagged == {line.key for line in story_lines() if not line.seen}
    assert {"L13", "L14"} <= tagged


def test_a_false_alarm_is_written_by_the_agent_that_scans(by_key: dict[str, Step]) -> None:
    actors = {line.kind == "false_positive": set() for line in story_lines()}
    for line in story_lines():
        actors[line.kind == "false_positive"].add(by_key[line.key].actor)
    assert actors == {True: {"scan-bot"}, False: {"triage-bot"}}


def test_a_line_that_repeats_another_has_that_one_s_origin() -> None:
    first, again = read_lines(
        "\n".join(json.dumps({**A_LINE, "source": f"https://{host}/a"}) for host in ("root.example", "echo.example"))
    )
    assert record_of(replace(again, number=61), {61: again, 20: first})["source"]["origin"] == "root.example"
    assert record_of(again, {2: again})["source"]["origin"] == "echo.example"


@pytest.mark.parametrize(
    ("key", "at"),
    [
        ("L01", instant(2, 1, 23, 50)),
        ("L02", instant(2, 24, 23, 50)),
        ("L03", instant(2, 24, 23, 50, 1)),
        ("L18", instant(3, 29, 15, 51)),
        ("L11", EMBARGO_ENDS),
        ("L16", instant(3, 29, 15, 55, 5)),
        ("L17", instant(3, 29, 16, 51, 12, 588_000)),
        ("L19", instant(3, 29, 16, 51, 12, 588_000)),
        ("L57", instant(4, 2, 13, 29, 48)),
    ],
)
def test_a_line_plays_when_it_could_be_relied_on(by_key: dict[str, Step], key: str, at: datetime) -> None:
    assert by_key[key].at == at


def test_an_embargoed_line_was_true_before_it_was_known(by_key: dict[str, Step]) -> None:
    assert by_key["L14"].body["valid_from"] == "2024-03-28T00:00:00Z"
    assert by_key["L14"].at == instant(3, 29, 15, 55, 3)


def test_day_lines_of_one_day_play_in_turn() -> None:
    lines = read_lines("\n".join(json.dumps(A_LINE) for _ in range(3)))
    assert [at for at, _ in played(lines)] == [instant(3, 9, 23, 50, second) for second in range(3)]


def test_the_story_plays_forward_and_a_publication_after_its_reservation(by_key: dict[str, Step]) -> None:
    steps = story()
    assert [step.at for step in steps] == sorted(step.at for step in steps)
    order = [step.key for step in steps]
    for earlier, later in [("L07", "B02"), ("B02", "B03"), ("L17", "L19"), ("L18", "L11"), ("D10", "D10b")]:
        assert order.index(earlier) < order.index(later)


def test_the_story_has_fewer_than_300_steps_and_an_actor_for_each() -> None:
    known = {agent.name for agent in AGENTS} | set(BY_NAME) | {SYSTEM}
    assert len(story()) < 300
    assert {step.actor for step in story()} <= known


def test_every_act_is_marked_re_enacted_and_no_line_is() -> None:
    lines = story_lines()
    assert {step.key for step in story() if step.re_enacted} == {step.key for step in [*acts(), *facts.ended(lines)]}
    assert not any("re_enacted" in str(step.body) for step in facts.batches(lines))
    assert not any("re_enacted" in str(step.body) for step in line_steps(story_lines()))


@pytest.mark.parametrize("key", ["B02", "C01", "D10"])
def test_an_act_without_its_mark_is_refused(key: str) -> None:
    def unmarked(step: Step) -> Step:
        if not isinstance(step.body, dict):
            return step
        body = {name: value for name, value in step.body.items() if name not in ("metadata", "refs")}
        return replace(step, body=body) if step.key == key else step

    with pytest.raises(StepFault, match="not marked re_enacted"):
        merged(line_steps(story_lines()), [unmarked(step) for step in acts()])


def test_every_line_that_states_a_value_is_a_fact_with_its_source(by_key: dict[str, Step]) -> None:
    stating = [line for line in story_lines() if line.attribute]
    told = {item["id"]: item for step in facts.batches(story_lines()) for item in step.body}
    assert set(told) == {facts.fact_id(line.number) for line in stating}
    for line in stating:
        fact, record = told[facts.fact_id(line.number)], by_key[line.key].body
        assert isinstance(record, dict)
        assert (fact["subject"], fact["attribute"], fact["value"]) == (line.subject, line.attribute, line.value)
        assert (fact["source"], fact["valid_from"]) == (record["source"], record["valid_from"])


def test_a_merge_of_lines_alone_is_no_marked_act() -> None:
    body = {"kind": "merge", "records": [Answered("L02", "id"), Answered("L07", "id")]}
    bare = Step("Z01", instant(6, 1), "triage-bot", "derivations", body)
    with pytest.raises(StepFault, match="Z01 is invented"):
        merged(line_steps(story_lines()), [bare])


def test_a_step_may_not_come_before_one_that_it_needs() -> None:
    early = [replace(step, at=instant(2, 2)) if step.key == "B03" else step for step in acts()]
    with pytest.raises(StepFault, match="B03 needs"):
        merged(line_steps(story_lines()), early)


def test_a_name_stands_for_one_step() -> None:
    with pytest.raises(StepFault, match="Two steps are named L01"):
        merged([*line_steps(story_lines()), line_steps(story_lines())[0]], [])


def test_an_id_of_an_earlier_answer_is_put_into_body_and_path() -> None:
    step = Step(
        "Z", instant(6, 1), "triage-bot", "runs/{run}/end", {"a": [Answered("B", "records", 0), 1], "b": {"c": "d"}},
        refers_to={"run": Answered("C", "id")},
    )  # fmt: skip
    answers = {"B": {"records": ["r1"]}, "C": {"id": "run-1"}}
    assert needs(step) == {"B", "C"}
    assert filled(step.body, answers) == {"a": ["r1", 1], "b": {"c": "d"}}
    assert filled_path(step, answers) == "runs/run-1/end"


@pytest.mark.parametrize("answers", [{}, {"B": {}}, {"B": {"records": []}}, {"B": {"records": [None]}}, {"B": 3}])
def test_an_answer_that_is_not_there_is_told(answers: dict[str, object]) -> None:
    with pytest.raises(StepFault, match="Step B"):
        filled(Answered("B", "records", 0), answers)


def test_the_contact_is_nobody_s() -> None:
    assert placeholder_contact().startswith("+1 555 01")
    assert placeholder_contact().endswith("@example.org")
    assert any(placeholder_contact() in step.body["content"] for step in acts() if step.key == "D10")


def test_headers_name_people_by_address_and_agents_by_name() -> None:
    assert principal("owner-b") == "person:owner-b@localhost"
    assert principal("docs-bot") == "agent:docs-bot"
    assert {person.role for person in PEOPLE} == {"owner", "reviewer", "auditor"}


@given(st.lists(st.sampled_from([2, 7, 18, 26]), unique=True))
def test_whatever_acts_are_left_out_the_lines_play_the_same(numbers: list[int]) -> None:
    lines = line_steps(story_lines())
    kept = [step for step in acts() if not needs(step) & {f"L{number:02d}" for number in numbers}]
    kept = [step for step in kept if needs(step) <= {other.key for other in (*lines, *kept)}]
    assert [step for step in merged(lines, kept) if not step.re_enacted] == sorted(lines, key=lambda step: step.at)
