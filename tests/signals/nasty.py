"""A generator of nasty responses: fragments of signals, fences, backticks, entities and white space at random."""

import random

FRAGMENTS = (
    '<signal type="need_turn">',
    "<signal type='stuck'>",
    "<signal type=partial_answer>",
    '<signal confidence="0.4" type = "STUCK">',
    '<signal type="need_turn"><reason>r</reason></signal>',
    '<signal type="partial_answer" missing="m"/>',
    '<signal type="need_turn"><reason>`x` y</reason>\n</signal>',
    '<signal\ntype="stuck"><attempted>["a"]</attempted><blocker>b</blocker></signal>',
    '<SIGNAL TYPE="stuck"><attempted>a</attempted><blocker>b</blocker></SIGNAL>',
    '<SIGNAL type="need_turn">',
    "</SIGNAL>",
    "<SIG",
    "<Signal type='stuck'>",
    '\n```xml\n<signal type="need_turn"><reason>r</reason></signal>\n```\n',
    '\n~~~\n  <signal type="partial_answer" missing="m"/>\n\n~~~',
    "<signal>",
    "<signal.h>",
    "<signals>",
    "std::signal<int>",
    "<signal to noise>",
    '<signal x="',
    "<signal ",
    "<signal",
    "<sig",
    "<s",
    "<",
    "</signal>",
    "</signal >",
    "</sig",
    "/>",
    ">",
    "nal",
    "type=",
    ' type="stuck">',
    '"',
    "'",
    "=",
    "/",
    "<reason>",
    "</reason>",
    "<reason>why</reason>",
    '<a b="</signal>">',
    "<a b='",
    "<confidence>0.2</confidence>",
    "<attempted>a, b</attempted>",
    "<blocker>",
    "</blocker>",
    "<![CDATA[",
    "]]>",
    "<![CDATA[</signal>]]>",
    "<!--",
    "-->",
    "&lt;",
    "&amp;",
    "&#x41;",
    "&",
    "a < b",
    "`",
    "``",
    "```",
    "````",
    "~",
    "~~~",
    "~~~~",
    "\n```\n",
    "\n```xml\n",
    "\n~~~\n",
    "\n   ```\n",
    "\n    ```\n",
    "`code`",
    '`<signal type="x">`',
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    " ",
    "  ",
    "\t",
    "\n- ",
    "\n1. ",
    "\n# ",
    "\n> ",
    "text",
    "words and words. ",
    "\x00",
    "\ud800",
    "é",
    "\xa0",
    "😀",
)


def response(rng: random.Random) -> str:
    """One response of up to 24 fragments; every third from a few fragments only, so that they meet."""
    pool = rng.sample(FRAGMENTS, 6) if rng.random() < 0.34 else FRAGMENTS
    return "".join(rng.choice(pool) for _ in range(rng.randint(1, 24)))


def split(text: str, rng: random.Random) -> list[str]:
    """The text in pieces."""
    longest = rng.choice((1, 2, 3, 7, 20))
    pieces = []
    while text:
        size = rng.randint(1, longest)
        pieces.append(text[:size])
        text = text[size:]
    return pieces
