"""A slow reader of whole responses, independent of the real one: one pass with unlimited lookahead.

It has no windows, so it is valid for texts shorter than 4,096 characters.
"""

import functools
import re

import signals

WHITE = " \t\r\n"
SPACE = "[ \\t\\r\\n]"
NAME = r"[A-Za-z_:][\w.:-]*"
VALUE = r"""(?:"[^"]*"|'[^']*'|[^ \t\r\n"'<>=`/]+(?=[ \t\r\n/>]))"""
START = re.compile(rf"<signal{SPACE}+(?:{NAME}{SPACE}*={SPACE}*{VALUE}{SPACE}*)*?type{SPACE}*=", re.IGNORECASE)
EXTRA_END = re.compile(r"[ \t\r\n]*</(?:signal|SIGNAL)[ \t\r\n]*>")
END = re.compile(r"</(?:signal|SIGNAL)[ \t\r\n]*>")
OPEN = re.compile(rf"""<({NAME})(?:{SPACE}+{NAME}{SPACE}*={SPACE}*(?:"[^"]*"|'[^']*'))*{SPACE}*(/?)>""")


def starts(text, at):
    return text.startswith(("<signal", "<SIGNAL"), at) and START.match(text, at)


def quoted(text, at):
    """After the value whose opening mark is at `at`; None if no mark closes it properly."""
    close = text.find(text[at], at + 1)
    return close + 1 if 0 <= close < len(text) - 1 and text[close + 1] in WHITE + "/>" else None


def tag_end(text, at):
    type_value = re.compile(r"""[ \t\r\n]*(?:"[^"<>]*"|'[^'<>]*')""").match(text, at)
    slip = re.compile(r"""[ \t\r\n]*["']?""").match(text, at)
    at = (type_value or slip).end()
    while at < len(text):
        if text[at] == ">":
            return at + 1
        value = re.compile(r"""=[ \t\r\n]*(?=["'])""").match(text, at)
        at = (quoted(text, value.end()) or value.end() + 1) if value else at + 1
    return None


def block_close(text, at):
    """The span of the `</signal>` that ends a body beginning at `at`."""
    while at < len(text):
        end = END.match(text, at)
        if end:
            return end.span()
        if text.startswith("<![CDATA[", at) and "]]>" in text[at + 9 :]:
            at = text.index("]]>", at + 9) + 3
            continue
        tag = re.compile(r"<[A-Za-z_:][\w.:-]*(?=[ \t\r\n])").match(text, at)
        at = tag.end() if tag else at + 1
        while tag:
            value = re.compile(r"""[ \t\r\n]+[A-Za-z_:][\w.:-]*[ \t\r\n]*=[ \t\r\n]*(?=["'])""").match(text, at)
            after = quoted(text, value.end()) if value else None
            if value and after is None:
                at = value.end() + 1
            if after is None:
                break
            at = after
    return None


def child_end(text, at, end):
    opening = OPEN.match(text, at, end)
    if not opening:
        return None
    if opening[2]:
        return opening.end()
    at = opening.end()
    closing = re.compile(r"</" + re.escape(opening[1]) + r"[ \t\r\n]*>")
    while at < end:
        if text.startswith("<![CDATA[", at):
            stop = text.find("]]>", at, end)
            at = stop + 3 if stop >= 0 else at + 1
        elif match := closing.match(text, at, end):
            return match.end()
        else:
            at += 1
    return None


def nested(text, at, end):
    """Where a signal begins in a body, outside of its child elements, comments and CDATA sections."""
    while at < end:
        if text[at] == "<":
            for mark, stop in (("<!--", "-->"), ("<![CDATA[", "]]>")):
                if text.startswith(mark, at) and text.find(stop, at, end) >= 0:
                    at = text.find(stop, at, end) + len(stop) - 1
                    break
            else:
                match = starts(text, at)
                if match and match.end() <= end:
                    return at
                at = (child_end(text, at, end) or at + 1) - 1
        at += 1
    return None


def block(text, start):
    """End of the block that starts at `start`, and whether another one cut it short."""
    type_end = starts(text, start).end()
    body = tag_end(text, type_end)
    if body is not None and text[body - 2] == "/":
        return body, False
    close = block_close(text, body) if body is not None else None
    inner = nested(text, type_end if body is None else body, close[0] if close else len(text))
    if inner is not None:
        return inner, True
    return (close[1] if close else len(text)), False


def tidy_end(text, start):
    at = tag_end(text, starts(text, start).end())
    if at is None or text[at - 2] == "/":
        return at
    while True:
        while at < len(text) and text[at] in WHITE:
            at += 1
        end = END.match(text, at)
        if end:
            return end.end()
        at = child_end(text, at, len(text))
        if at is None:
            return None


def paragraph_end(text, at):
    for line_break in re.finditer(r"\r\n|\r|\n", text[at:]):
        rest = text[at + line_break.end() :]
        if re.match(r"[ \t]*(?:[\r\n]|\Z|(?:#{1,6}|[-*+]|\d{1,9}[.)])[ \t])", rest):
            return at + line_break.start()
        if re.match(r" {0,3}(?:~{3,}|`{3,}[^`\r\n]*(?:[\r\n]|\Z))", rest):
            return at + line_break.start()
    return len(text)


def first_signal(text, at, end):
    """The first signal that is in no code span, if what comes before `at` is none."""
    while at < end:
        if starts(text, at):
            return at
        run = re.compile("`+").match(text, at)
        at = (span_from(text, at) or run.end()) if run else at + 1
    return None


@functools.lru_cache(maxsize=4096)
def span_from(text, at):
    return code_span_end(text, re.compile("`+").match(text, at))


def code_span_end(text, run):
    """After the run that closes the code span opened by the match `run`, or None."""
    end = paragraph_end(text, run.end())
    signal = first_signal(text, run.end(), end)
    own = tidy_end(text, signal) if signal is not None else None
    at = run.end()
    while other := re.compile("`+").search(text, at):
        if other.start() >= end:
            return None
        if len(other[0]) == len(run[0]):
            if own is None or not signal < other.start() < own:
                return other.end()
            at = own
            end = paragraph_end(text, own)
            continue
        at = other.end()
    return None


def only_signal(text, content, close):
    """The one well-formed signal that a fence at the end of the text holds, or None."""
    start = re.compile(r"[^\r\n]*[ \t\r\n]*").match(text, content).end()
    inside = text[: close.start() if close else len(text)]
    if (close and text[close.end() :].strip(WHITE)) or not starts(inside, start):
        return None
    end, cut = block(inside, start)
    if cut or inside[end:].strip(WHITE) or not signals.parse(inside[start:end]).signal:
        return None
    return inside[start:end]


def fence_end(text, content, mark):
    """The match of the line that closes a fence, or None; and the signal that the fence is, or None."""
    closing = re.compile(rf"[\r\n] {{0,3}}{mark[0]}{{{len(mark)},}}[ \t]*(?=[\r\n]|\Z)")
    close = closing.search(text, content)
    return close, only_signal(text, content, close)


def read(text):
    """The visible text and the raw blocks."""
    kept, blocks, fences_on, at, outer = [], [], True, 0, 0

    def keep(to):
        kept.extend(text[at:to])
        return to

    while at < len(text):
        line = re.match(r" {0,3}(~{3,}|`{3,}(?=[^`\r\n]*(?:[\r\n]|\Z)))", text[at:])
        if fences_on and line and (at == 0 or text[at - 1] in "\r\n"):
            close, raw = fence_end(text, at + line.end(), line[1])
            if raw:
                blocks.append(raw)
                kept.append(None)
                at = close.end() if close else len(text)
                continue
            fences_on = bool(close)
            at = keep(close.end() if close else at + line.end())
        elif fences_on and (run := re.compile("`+").match(text, at)):
            at = keep(span_from(text, at) or run.end())
        elif starts(text, at):
            end, cut = block(text, at)
            blocks.append(text[at:end])
            kept.append(None)
            outer = outer + 1 if cut else outer
            while not cut and outer and (extra := EXTRA_END.match(text, end)):
                end, outer = extra.end(), outer - 1
            outer = outer if cut else 0
            at = end
        else:
            at = keep(at + 1)
    return shown(kept), blocks


def shown(kept):
    """The kept characters without the blank lines around blocks (None) at the end."""
    tail = len(kept)
    while tail and (kept[tail - 1] is None or kept[tail - 1] in WHITE):
        tail -= 1
    if None in kept[tail:]:
        while tail and tail < len(kept) and kept[tail] is not None and kept[tail] in " \t":
            tail += 1
        kept = kept[:tail]
    return "".join(c for c in kept if c is not None)
