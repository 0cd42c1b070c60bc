"""Lists of entrants as people have them: every encoding and separator; a wrong line is named and stops no other."""

from __future__ import annotations

import pytest

from app.service.entry_list import read_list
from app.service.errors import BadList

TABLE = "имя;метка;посев\r\nВера;k3f;1\r\nБорис;;2\r\n"


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(TABLE.encode(), id="UTF-8"),
        pytest.param(TABLE.encode("utf-8-sig"), id="UTF-8 with a mark"),
        pytest.param(TABLE.encode("cp1251"), id="Windows-1251"),
        pytest.param(TABLE.encode("utf-16"), id="UTF-16 with a mark"),
        pytest.param(TABLE.replace(";", ",").encode(), id="commas"),
        pytest.param(TABLE.replace(";", "\t").encode(), id="tabs"),
        pytest.param(TABLE.replace("\r\n", "\n").encode(), id="LF"),
        pytest.param(TABLE.replace("\r\n", "\r").encode(), id="CR"),
        pytest.param(TABLE.replace("имя;метка;посев", "Name;Tag;Seed").encode(), id="an English header"),
        pytest.param(TABLE.replace("Вера;k3f", "Вера #k3f;").encode(), id="the tag behind the name"),
        pytest.param(TABLE.replace("Вера", '" Вера  "').encode(), id="quotation marks and spaces"),
        pytest.param(TABLE.encode() + b"\r\n;;\r\n", id="empty lines at the end"),
    ],
)
def test_one_table_however_it_is_written(data: bytes) -> None:
    assert [(line.line, line.name, line.tag, line.seed, line.fault) for line in read_list(data)] == [
        (2, "Вера", "k3f", 1, None),
        (3, "Борис", None, 2, None),
    ]


def test_a_list_without_a_header_is_names() -> None:
    assert [(line.line, line.name) for line in read_list(b"Anna\n\nBoris\n")] == [(1, "Anna"), (3, "Boris")]


def test_a_comma_inside_quotation_marks_belongs_to_the_name() -> None:
    (line,) = read_list(b'name,seed\n"Smith, John",3\n')
    assert (line.name, line.seed) == ("Smith, John", 3)


def test_wrong_lines_are_named_with_line_column_and_reason() -> None:
    lines = read_list(b'seed,name\n1,Anna\n2,\nx,Boris\n0,Cid\n"open,Dora\n,Eva\n')
    faults = [(one.line, one.fault.column, one.fault.field, one.fault.code) for one in lines if one.fault]
    assert faults == [
        (3, 2, "name", "empty"),
        (4, 1, "seed", "bad-seed-number"),
        (5, 1, "seed", "bad-seed-number"),
        (6, 1, "name", "bad-csv"),
    ]
    assert [(one.line, one.name) for one in lines if not one.fault] == [(2, "Anna"), (7, "Eva")]


@pytest.mark.parametrize(
    ("data", "because"),
    [
        pytest.param(b"", "nobody", id="nothing"),
        pytest.param(b"name,seed\n", "nobody", id="a header alone"),
        pytest.param(b"seed,tag\n1,k3f\n", "no-name-column", id="no names"),
        pytest.param(b"\xff\xfe\x00", "encoding", id="half a character of UTF-16"),
        pytest.param(b"\x98\x00", "encoding", id="no text"),
        pytest.param(b"a\x00b\n", "encoding", id="zeros"),
        pytest.param(b"A\n" * 2_001, "too-long", id="too many lines"),
    ],
)
def test_a_list_that_cannot_be_read_at_all(data: bytes, because: str) -> None:
    with pytest.raises(BadList) as refused:
        read_list(data)
    assert refused.value.params["because"] == because
