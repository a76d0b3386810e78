"""The time that descendants of a process waited for a core, in a folder like /proc."""

from pathlib import Path

from benchmarks.web.waiting import descendants, nanoseconds_waited


def _add(proc: Path, process: int, parent: int, name: str, waited: list[int]) -> None:
    folder = proc / str(process)
    folder.mkdir(parents=True)
    (folder / "stat").write_text(f"{process} ({name}) S {parent} 0 0")
    for thread, nanoseconds in enumerate(waited, start=process):
        task = folder / "task" / str(thread)
        task.mkdir(parents=True)
        (task / "schedstat").write_text(f"1000000 {nanoseconds} 7\n")


def _make(proc: Path) -> None:
    _add(proc, 10, 1, "python", [5])
    _add(proc, 20, 10, "chromium", [100])
    _add(proc, 30, 20, "render) 1 (er", [20, 3])
    _add(proc, 40, 1, "another", [1000])
    (proc / "50").mkdir()  # a process that ended while it was looked at
    (proc / "self").mkdir()


def test_descendants_are_found_at_all_levels(tmp_path: Path) -> None:
    _make(tmp_path)
    assert descendants(10, tmp_path) == {20, 30}
    assert descendants(30, tmp_path) == set()


def test_all_threads_of_descendants_count_and_nothing_else(tmp_path: Path) -> None:
    _make(tmp_path)
    assert nanoseconds_waited(10, tmp_path) == 123
    (tmp_path / "30" / "task" / "31" / "schedstat").unlink()
    assert nanoseconds_waited(10, tmp_path) == 120
