"""What divides the cells of a text table: what people call it."""

from __future__ import annotations

from pairlearn.files.tables.errors import OptionError

__all__ = ["DELIMITERS", "delimiter_named", "name_of_delimiter"]

# Those that are found without being told.
DELIMITERS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}
_NAMES = {
    "comma": ",",
    "semicolon": ";",
    "tab": "\t",
    "\\t": "\t",
    "bar": "|",
    "pipe": "|",
    "colon": ":",
}


def delimiter_named(said: str | None) -> str | None:
    r"""Return the character that somebody means.

    Parameters
    ----------
    said : str or None
        The character itself, or its name: comma, semicolon, tab, bar, colon.

    Returns
    -------
    str or None
        None if nothing was said.

    Raises
    ------
    OptionError
        If it cannot divide cells.

    Examples
    --------
    >>> delimiter_named("tab"), delimiter_named(";"), delimiter_named("\\t")
    ('\t', ';', '\t')
    """
    if said is None:
        return None
    found = _NAMES.get(said.strip().casefold(), said)
    plain = found.isascii() and found.isprintable() and not found.isspace()
    if (
        len(found) != 1
        or not (plain or found == "\t")
        or found.isalnum()
        or found in "\"'.+-"
    ):
        raise OptionError(
            f"--delimiter {said!r} cannot divide the cells of a table; it is one sign, "
            "such as ';' or ':', or comma, semicolon, tab, bar or colon"
        )
    return found


def name_of_delimiter(delimiter: str) -> str:
    """Return what a delimiter is called in a sentence.

    Examples
    --------
    >>> name_of_delimiter(";"), name_of_delimiter("#")
    ('a semicolon', "the sign '#'")
    """
    return DELIMITERS.get(delimiter, f"the sign {delimiter!r}")
