"""The whole story in the order in which it plays: the merge of lines and acts by their instants."""

from collections.abc import Sequence

from audit.demo import beliefs
from audit.demo.acts import acts
from audit.demo.facts import batches, ended, founding
from audit.demo.lines import Line, played, record_of, story_lines
from audit.demo.steps import Step, StepFault, needs, require_marked

FALSE_POSITIVE = "false_positive"


def line_steps(lines: Sequence[Line]) -> list[Step]:
    """One record for each line, by the agent whose job such lines are."""
    by_number = {line.number: line for line in lines}
    return [
        Step(
            line.key,
            at,
            "scan-bot" if line.kind == FALSE_POSITIVE else "triage-bot",
            "records",
            record_of(line, by_number),
            re_enacted=False,
        )
        for at, line in played(lines)
    ]


def merged(real: Sequence[Step], invented: Sequence[Step]) -> list[Step]:
    """Both halves by play time; of one instant the lines come first, each half in its own order.

    Raises StepFault (a name twice, a step before one that it needs, an invented act without its mark).
    """
    steps = sorted([*real, *invented], key=lambda step: step.at)
    known: dict[str, Step] = {}
    for step in steps:
        if step.key in known:
            raise StepFault(f"Two steps are named {step.key}.")
        if missing := needs(step) - known.keys():
            raise StepFault(f"Step {step.key} needs {', '.join(sorted(missing))}, which play later or never.")
        require_marked(step, known=known)
        known[step.key] = step
    return steps


def story() -> list[Step]:
    """Every step of the demo, first to last."""
    lines = story_lines()
    real = [*founding(), *beliefs.founding(), *line_steps(lines), *batches(lines)]
    return merged(real, [*acts(), *ended(lines)])
