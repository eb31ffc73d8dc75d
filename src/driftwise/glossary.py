"""The words of driftwise and the quantities that its tables print, each with its definition.

They are data of the package, so that `driftwise show WORD` explains a column where the documentation is not at hand.

>>> find_words("drift")[0].symbol
'$V$'
>>> [word.word for word in find_words("95% interval")]
['interval (confidence)']
"""

from __future__ import annotations

import functools
import re
import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

COLUMNS_NOTE = "Columns: `driftwise show COLUMN`."  # below a table of quantities in a terminal
ROWS_NOTE = "Rows: `driftwise show ROW`."  # below a table with a quantity in every row
PAGE_NOTE = " The command driftwise show COLUMN explains a column."  # after what a page says about its table
_LEVEL = re.compile(r"[0-9.]+ ?(?=% interval$)")  # of a confidence interval, in the heading of its column


@dataclass(frozen=True)
class Word:
    """An entry of the glossary.

    Parameters
    ----------
    word : str
        The word; in brackets what it belongs to, where two entries have the same word.
    meaning : str
        What it is, with maths between dollar signs.
    symbol : str, default ""
        The letter in the paper, with dollar signs.
    formula : str, default ""
        The definition in LaTeX, without dollar signs and vertical bars.
    also : tuple of str, default ()
        Other names: letters, and headings of columns.
    tables : tuple of str, default ()
        The commands whose tables print it.
    for_developers : bool, default False
        Whether only those who read or extend the code meet it.

    Examples
    --------
    >>> words()["best loss"].also
    ('L*', 'best loss L*', 'best_loss')
    """

    word: str
    meaning: str
    symbol: str = ""
    formula: str = ""
    also: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    for_developers: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Return everything it is called."""
        return (self.word, *self.also)


@functools.cache
def words() -> dict[str, Word]:
    """Return the entries by word, in alphabetical order."""
    read: dict[str, Any] = tomllib.loads(files("driftwise").joinpath("glossary.toml").read_text(encoding="utf-8"))
    for entry in read["word"]:
        entry |= {key: tuple(entry[key]) for key in ("also", "tables") if key in entry}
    return {entry["word"]: Word(**entry) for entry in read["word"]}


def find_words(text: str) -> list[Word]:
    """Return the entries with this name or heading of a column; capitals matter only if there are both.

    >>> find_words("R")[0].word, find_words("Regret")[0].word, find_words("nothing")
    ('R', 'regret', [])
    """
    wanted = _LEVEL.sub("", " ".join(text.split()))
    exact = [word for word in words().values() if wanted in word.names]
    return exact or [word for word in words().values() if wanted.lower() in map(str.lower, word.names)]
