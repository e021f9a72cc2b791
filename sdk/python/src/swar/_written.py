"""Times of words as they were written, made of those of the words that are spoken."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from difflib import SequenceMatcher

from ._events import Word

_AHEAD = 8  # words of a text that may be left out of what is spoken, such as those of an address


class Written:
    """Gives the words of a fed text the times of what is spoken of them: "407" those of "चार शून्य सात".

    Append the text that an utterance is fed with, and give it the words of each Words event. Words whose end is not clear
    yet come with a later event, or with rest() behind the last one. Places are those in the text.
    """

    def __init__(self) -> None:
        self.text = ""
        self._place = 0  # behind the last word that was given
        self._spoken: list[Word] = []  # what was given for no word yet

    def append(self, text: str) -> None:
        self.text += text

    def words(self, spoken: Iterable[Word]) -> list[Word]:
        """Returns the words that end with what is spoken by now."""
        self._spoken += spoken
        source = self._source()[: len(self._spoken) + _AHEAD]
        same = SequenceMatcher(None, [_letters(m[0]) for m in source], [_letters(w.word) for w in self._spoken], autojunk=False)
        found: list[Word] = []
        i, j = 0, 0
        for block in same.get_matching_blocks():
            if block.size:
                found += _share(source[i:block.a], self._spoken[j:block.b], self._spoken[block.b].start_s)
                found += [_timed(m, w.start_s, w.end_s) for m, w in zip(source[block.a:], self._spoken[block.b:block.b + block.size])]
                i, j = block.a + block.size, block.b + block.size
        return self._given(found, j)

    def rest(self) -> list[Word]:
        """Returns the words that are left when all was spoken."""
        source = self._source()
        if not self._spoken:
            return []
        return self._given(_share(source, self._spoken, self._spoken[-1].end_s), len(self._spoken))

    def _source(self) -> list[re.Match[str]]:
        return [m for m in re.compile(r"\S+").finditer(self.text, self._place) if _letters(m[0]) or _has_symbol(m[0])]

    def _given(self, words: list[Word], spoken: int) -> list[Word]:
        del self._spoken[:spoken]
        if words:
            self._place = words[-1].char_end
        return words


def _share(source: list[re.Match[str]], spoken: list[Word], otherwise: float) -> list[Word]:
    """Shares the time of spoken words among words by their length; without any, they take no time."""
    start, end = (spoken[0].start_s, spoken[-1].end_s) if spoken else (otherwise, otherwise)
    letters, shared = sum(len(m[0]) for m in source), 0
    words = []
    for m in source:
        until = shared + len(m[0])
        words.append(_timed(m, start + (end - start) * shared / letters, start + (end - start) * until / letters))
        shared = until
    return words


def _timed(m: re.Match[str], start: float, end: float) -> Word:
    return Word(m[0], m.start(), m.end(), start, end)


def _letters(word: str) -> str:
    return "".join(c for c in word if c.isalnum() or unicodedata.category(c)[0] == "M").casefold()


def _has_symbol(word: str) -> bool:
    return any(unicodedata.category(c)[0] == "S" and ord(c) < 0x2190 for c in word)  # ₹, % and +, and no emoji
