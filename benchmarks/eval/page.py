"""A run as one HTML page that loads nothing and runs nothing: its tables, and every answer with what is behind it."""

from collections.abc import Sequence
from html import escape

from benchmarks.eval import figures
from benchmarks.eval.questions import BY_NAME
from benchmarks.eval.record import Answer, Run
from benchmarks.eval.report import NAMES, Table, heading

_STYLE = """\
:root { color-scheme: light dark; --line: light-dark(#ddd, #444); --soft: light-dark(#666, #aaa);
  --good: light-dark(#176f2c, #7bd88f); --bad: light-dark(#a61c1c, #ff8f8f); }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2.2rem; }
.note, header p { color: var(--soft); margin: .2rem 0; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .25rem 1.2rem .25rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
thead th { color: var(--soft); font-weight: 500; } tbody th { font-weight: 400; } td { white-space: nowrap; }
td.wraps { white-space: normal; min-width: 12rem; }
.strong { font-weight: 600; }
.good { color: var(--good); } .bad { color: var(--bad); }
details { border-bottom: 1px solid var(--line); padding: .35rem 0; } summary { cursor: pointer; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: .4rem 0 .4rem 1rem; padding-left: .8rem;
  border-left: 2px solid var(--line); font: 13px/1.5 ui-monospace, monospace; }
h3 { font-size: .95rem; font-weight: 600; margin: .8rem 0 0 1rem; }
details p { margin: .1rem 0 .1rem 1rem; color: var(--soft); }
"""


def page(run: Run, found: Sequence[Table]) -> str:
    """The page of a run and its tables; all text of models and files in it is escaped."""
    title = f"{run.model}: tree, loop and legacy"
    parts = [
        "<!doctype html><html lang='en'><meta charset='utf-8'>",
        "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; style-src 'unsafe-inline'\">",
        "<meta name='viewport' content='width=device-width'>",
        f"<title>{escape(title)}</title><style>{_STYLE}</style>",
        f"<header><h1>{escape(title)}</h1>{''.join(f'<p>{escape(line)}</p>' for line in heading(run))}</header>",
        *map(_table, found),
        "<h2>Every answer</h2>",
        *(_task(run, task) for task in run.tasks),
    ]
    return "\n".join(parts) + "\n</html>\n"


def _table(table: Table) -> str:
    head = "".join(f"<th scope='col'>{escape(cell)}</th>" for cell in table.head)
    rows = "".join(
        f"<tr><th scope='row'>{escape(row[0])}</th>{''.join(map(_cell, row[1:]))}</tr>" for row in table.rows
    )
    note = f"<p class='note'>{escape(table.note)}</p>" if table.note else ""
    return (
        f"<h2>{escape(table.title)}</h2>{note}"
        f"<div class='wide'><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _cell(text: str) -> str:
    kind = "bad" if text.startswith("lost") else {"complete": "good", "beyond chance": "strong"}.get(text, "")
    return f"<td class='{kind} {'wraps' if len(text) > 32 else ''}'>{escape(text)}</td>"


def _task(run: Run, task: str) -> str:
    answers = [each for name in NAMES if (each := run.answer(task, name))]
    marks = ", ".join(
        f"<span class='{'good' if each.score.is_complete else 'bad'}'>"
        f"{each.player} {each.score.facts_said}/{each.score.facts}</span>"
        for each in answers
    )
    verdict = f"; the judge, in both orders: {', '.join(run.verdicts[task])}" if task in run.verdicts else ""
    asked = "".join(f"<p>{escape(question.text)}</p>" for question in BY_NAME[task].questions)
    body = asked + "".join(map(_answer, answers))
    return f"<details><summary>{escape(task)}: {marks or 'not asked'}{escape(verdict)}</summary>{body}</details>"


def _answer(answer: Answer) -> str:
    score = answer.score
    seconds = sum(query.seconds for query in answer.queries)
    facts = [
        f"{score.turns} turns ({score.unneeded_turns} unneeded), {score.calls} calls ({score.unneeded_calls} unneeded)",
        f"{score.tokens:,} tokens, ${answer.spent.dollars:.3f}, {seconds:.1f} s; ended as {', '.join(score.reasons)}",
        f"signals: {', '.join(each or 'none' for each in figures.signals(answer)) or 'none'}",
    ]
    facts += [f"unneeded: {', '.join(score.wasted)}"] if score.wasted else []
    judged = [(key, said) for query in answer.queries for key, said in query.judged.items()]
    facts += [f"decided by the judge: {_listed(judged)}"] if judged else []
    texts = "".join(f"<pre>{escape(query.answer)}</pre>" for query in answer.queries)
    return f"<h3>{answer.player}</h3>{''.join(f'<p>{escape(line)}</p>' for line in facts)}{texts}"


def _listed(judged: Sequence[tuple[str, bool]]) -> str:
    return ", ".join(f"{key} {'said' if said else 'not said'}" for key, said in judged)
