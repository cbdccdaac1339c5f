"""Whatever a student hands in is either read as a notebook or refused with a reason."""

import json

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.grading.reading import Unreadable, read_bytes, read_file

NOTEBOOK = {
    "cells": [{"cell_type": "code", "source": ["x = 1\n", "y = 2"], "metadata": {}, "outputs": [], "id": "a"}],
    "metadata": {},
    "nbformat": 4,
    "nbformat_minor": 5,
}
TEXT = json.dumps(NOTEBOOK)


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("empty", b"", "empty"),
        ("only NUL bytes", b"\0\0\0", "empty"),
        ("cut off", TEXT[:-20].encode(), "not valid JSON"),
        ("a web page", b"<!doctype html><html></html>", "web page"),
        ("a ZIP renamed", b"PK\x03\x04rest", "ZIP"),
        ("Latin-1 text", "é".encode("latin-1"), "UTF-8"),
        ("a JSON list", b"[1, 2]", "not a notebook"),
        ("JSON without cells", b'{"a": 1}', "no cells"),
        ("worksheets without cells", b'{"worksheets": [{"cells": []}, {"a": {}}]}', "no cells"),
        ("millions of lists", b'{"cells": [' + b"[]," * 2_000_000 + b"1]}", "more lists"),
        ("nested a thousand deep", b"[" * 100_000, "not valid JSON"),
    ],
)
def test_what_is_no_notebook_is_refused_with_a_reason(name, data, reason):
    with pytest.raises(Unreadable, match=reason):
        read_bytes(data)


@pytest.mark.parametrize("encode", ["utf-8", "utf-8-sig", "utf-16"])
def test_other_encodings_of_the_same_notebook_are_read(encode):
    notebook = read_bytes(TEXT.encode(encode))
    assert [cell.source for cell in notebook.cells] == ["x = 1\ny = 2"]
    nbformat.validate(notebook)


def test_an_old_notebook_is_upgraded():
    old = {
        "nbformat": 3,
        "nbformat_minor": 0,
        "metadata": {"name": ""},
        "worksheets": [
            {"cells": [{"cell_type": "code", "input": "x = 1", "outputs": [], "language": "python"}]},
            7,
            {"cells": [{"cell_type": "heading", "level": 2, "source": ["a", "b"]}, None]},
            {"cells": 7},
        ],
    }
    cells = read_bytes(json.dumps(old).encode()).cells
    assert [(cell.cell_type, cell.source) for cell in cells] == [("code", "x = 1"), ("markdown", "## ab")]


def test_odd_cells_do_not_stop_the_reading():
    cells = [7, None, {"cell_type": 3, "source": "t"}, {"cell_type": "code", "source": 5}, {"source": ["a", 2, "b"]}]
    notebook = read_bytes(json.dumps({**NOTEBOOK, "cells": cells}).encode())
    assert [cell.source for cell in notebook.cells] == ["t", "ab"]


def test_lone_surrogates_become_text_that_can_be_stored():
    text = json.dumps({**NOTEBOOK, "cells": [{"cell_type": "code", "source": "x = '\ud800'"}]})
    read_bytes(text.encode()).cells[0].source.encode("utf-8")


def test_a_folder_and_a_link_are_refused(tmp_path):
    folder = tmp_path / "x.ipynb"
    folder.mkdir()
    with pytest.raises(Unreadable, match="folder"):
        read_file(folder)
    link = tmp_path / "y.ipynb"
    link.symlink_to("/etc/passwd")
    with pytest.raises(Unreadable, match="symbolic link"):
        read_file(link)


json_values = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


@given(json_values, json_values)
def test_any_json_is_read_or_refused(cells, cell):
    for content in (
        cells,
        {"cells": cells},
        {"cells": [cell, {"cell_type": "code", "source": cell, "metadata": cell}]},
    ):
        try:
            notebook = read_bytes(json.dumps(content).encode())
        except Unreadable as error:
            assert str(error)
        else:
            assert all(isinstance(c.source, str) for c in notebook.cells)


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data):
    try:
        read_bytes(data)
    except Unreadable as error:
        assert str(error)
