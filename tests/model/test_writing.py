"""Files are written in one step, wherever a path leads."""

import gzip
import os
from pathlib import Path

import pytest

from ratiolab.model import (
    Instance,
    read_instance,
    write_instance,
)


def test_an_interrupted_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "x.json"
    write_instance(Instance("old", 2, [0], [1], [1]), path)
    old = path.read_bytes()

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_instance(Instance("new", 2, [0], [1], [1]), path)
    assert path.read_bytes() == old
    assert [file.name for file in tmp_path.iterdir()] == ["x.json"]


def test_a_write_creates_its_folder_and_leaves_one_readable_file(tmp_path):
    path = tmp_path / "new" / "folder" / "x.json"
    write_instance(Instance("a", 2, [0], [1], [1]), path)
    write_instance(Instance("b", 2, [0], [1], [1]), path)
    assert list(path.parent.iterdir()) == [path]
    assert read_instance(path).name == "b"
    assert path.stat().st_mode & 0o444 == 0o444


def test_what_is_no_regular_file_is_written_to_and_never_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_instance(Instance("x", 2, [0], [1], [1]), pipe)
    assert b"ratiolab-instance/1" in os.read(reader, 1000)
    os.close(reader)
    assert pipe.is_fifo()
    with pytest.raises(IsADirectoryError):
        write_instance(Instance("x", 2, [0], [1], [1]), tmp_path)


def test_a_link_keeps_pointing_where_it_did(tmp_path):
    (tmp_path / "target.json").write_text("old")
    (tmp_path / "link.json").symlink_to("target.json")
    write_instance(Instance("new", 2, [0], [1], [1]), tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert read_instance(tmp_path / "target.json").name == "new"


def test_a_path_that_cannot_be_written_is_named_as_it_was_asked_for(tmp_path):
    (tmp_path / "file").write_text("")
    path = tmp_path / "file" / "x.json"
    with pytest.raises(OSError) as caught:
        write_instance(Instance("x", 2, [0], [1], [1]), path)
    assert caught.value.filename == str(path)


def test_compressed_text_is_told_by_its_content_not_by_its_name(tmp_path):
    path = tmp_path / "instance.csv"
    path.write_bytes(gzip.compress(b"arrival,prompt,output\n0,1,2\n"))
    assert read_instance(path, 5).output.tolist() == [2]
