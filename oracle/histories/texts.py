"""What the user could read of a run, piece by piece; the pieces of a tick are joined."""

from dataclasses import replace

from oracle.histories.model import TextFacts


class Texts:
    """Collects the pieces.

    Args:
        texts: gets them; the last one is complete after `flush`.
    """

    def __init__(self, texts: list[TextFacts]) -> None:
        self._texts = texts
        self._pieces: list[str] = []  # of the last text; joined when they are asked for, not one by one

    def say(self, piece: TextFacts, *, is_whole: bool = False) -> None:
        """Add a piece; one that `is_whole` is not joined with the text before."""
        last = self._texts[-1] if self._texts else None
        is_same = last and (last.type, last.tick, last.turn) == (piece.type, piece.tick, piece.turn)
        if is_same and not is_whole:
            self._pieces.append(piece.text)
            return
        self.flush()
        self._texts.append(piece)

    def flush(self) -> None:
        """Complete the last text."""
        if self._pieces:
            last = self._texts[-1]
            self._texts[-1] = replace(last, text=last.text + "".join(self._pieces))
            self._pieces.clear()
