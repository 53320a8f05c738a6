"""Whether a response ends with a question to the user (decision 36)."""

import pytest

from oracle.classify import asks_user

QUESTIONS = [
    "Which of the two files do you mean?",
    "There are two. Which one do you mean?\n",
    "Shall I write the note now? ",
    "Do you mean `auth.py` or `login.py`?",
    "**Which release do you mean?**",
    "_Shall I go on?_ \U0001f642",
    "Do you mean the class \u201cRetryPolicy\u201d or the function \u201cretry?\u201d",
    "I would delete three notes (is that all right?)",
    "Really delete all of them?!",
    "Really??",
    "\u00bfQu\u00e9 archivo quieres decir?",
    "Welche Datei meinst du?",
    "\u4f60\u6307\u7684\u662f\u54ea\u4e2a\u6587\u4ef6\uff1f",
    "\u300c\u54ea\u4e2a\u6587\u4ef6\uff1f\u300d",
    "\u0623\u064a \u0645\u0644\u0641 \u062a\u0642\u0635\u062f\u061f",
    "\u03a0\u03bf\u03b9\u03bf \u03b1\u03c1\u03c7\u03b5\u03af\u03bf\u037e",
    "```python\nrun()\n```\n\nIs this the call that you mean?",
    "~~~\nx\n~~~\nIs it?",
    "1. Keep it?\n2. Or drop it?",
    "Two things are open:\n\n- Which branch?\n- Which release?",
    "Use ```x``` here?",
    "Done. Is there anything else?",
]
ANSWERS = [
    "",
    "   \n",
    "It is defined in `src/retry.py:1`.",
    "Why does it fail? Because the lock is held.",
    "Which one? I took the first.",
    "# What is it?",
    "The answer is above.\n\n## Any questions?",
    "```sql\nSELECT * FROM t WHERE a = ?\n```",
    "```sql\nSELECT ?",
    "~~~\nis it?\n~~~",
    "````\n```\nis it?\n```\n````",
    "The placeholder is `?`",
    "The pattern is `a?`.",
    "> Who wrote this?",
    "As the note asks:\n\n> Shall we release on Friday?",
    "| Question | Answer |\n| --- | --- |\n| Why? | So. |",
    "Let me know if you want more!",
    "The file ends with a question mark: ?x",
]


@pytest.mark.parametrize("text", QUESTIONS)
def test_a_question_at_the_end_is_detected(text: str) -> None:
    assert asks_user(text)


@pytest.mark.parametrize("text", ANSWERS)
def test_other_text_is_not_a_question(text: str) -> None:
    assert not asks_user(text)
