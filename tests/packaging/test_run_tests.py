"""Tests which stages of tools/run_tests.py a change concerns, and what a run says at its end."""

import re
import subprocess

import pytest

from tools import run_tests

NAMES = [stage.name for stage in run_tests.STAGES]


def _changed(*paths: str, prose: tuple[str, ...] = ()) -> set[str]:
    return {stage.name for stage in run_tests.changed_stages(list(paths), list(prose))}


def test_commands_begin_with_programs():
    """A command that lacks its list is easily taken apart into its letters."""
    programs = {command[0] for stage in run_tests.STAGES for command in stage.commands}
    missing = {
        name for name in programs if name.partition("/")[0] not in (".venv", "make", "tools")
    }
    assert missing == set()
    assert {name for name in programs if name.startswith("tools/")} <= {
        f"tools/{file.name}" for file in (run_tests.ROOT / "tools").glob("*.sh")
    }


def test_documents_concern_lint_and_what_reads_and_runs_them():
    assert _changed("docs/from_keras.md") == {"lint", "python", "tensorflow", "torch"}
    assert "ray" in _changed("docs/scale_out.md")
    assert _changed("ARCHITECTURE.md") == {"lint", "python"}


def test_prose_alone_concerns_no_stage_that_runs_code(tmp_path, monkeypatch):
    """TensorFlow and PyTorch are not installed for a changed space in a page."""
    monkeypatch.chdir(tmp_path)
    pages = {"prose.md": "One.\n", "code.md": "```\nx = 1\n```\n", "both.md": "```\nx\n```\n"}
    for name, text in pages.items():
        (tmp_path / name).write_text(text)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    for arguments in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "pages"]):
        subprocess.run([*git, *arguments], check=True)
    (tmp_path / "prose.md").write_text("One. \n")
    (tmp_path / "code.md").write_text("```\nx = 2\n```\n")
    (tmp_path / "both.md").write_text("More.\n```\nx\n```\n")
    paths, prose = run_tests.changed_paths()
    assert paths == ["code.md"] and sorted(prose) == ["both.md", "prose.md"]
    assert _changed(prose=("docs/scale_out.md", "README.md")) == {"lint", "python"}


def test_kernels_concern_every_stage_that_runs_them():
    stages = _changed("larq_engine/kernels/layers/bconv2d.cc")
    others = {"browser", "cuda", "fpga", "keras-backends", "micro", "plug-in-tsan", "ray", "torch"}
    assert stages == set(NAMES) - others - {"tsan", "windows"}  # before releases only


def test_kernels_for_gpus_concern_their_compiler_and_the_sanitizer_of_threads():
    assert {"cuda", "fake-gpu", "tsan"} <= _changed("larq_engine/kernels/cuda/ptx.h")


def test_a_converter_rule_concerns_no_cpp_test():
    stages = _changed("larq_engine/converter/signs.py")
    assert stages == {"lint", "python", "tensorflow", "torch"}


def test_nothing_changed():
    assert _changed() == set()


def test_parts_are_all_stages():
    quick, rest = (run_tests.choose([what]) for what in ("quick", "rest"))
    everything = run_tests.choose(["all"])
    assert everything == list(run_tests.STAGES)
    assert [stage for stage in everything if not stage.release] == [*quick, *rest]
    assert [stage.name for stage in everything if stage.release] == ["windows"]


def test_no_stage_is_lost():
    """CI runs the stages that there are, so nobody would notice one that was removed."""
    assert sorted(NAMES) == [
        *("arm32", "arm64", "arm64-cpus", "arm64-wheel", "asan", "browser", "clang-tidy", "cpp"),
        *("cuda", "fake-gpu", "fpga", "fuzz", "fuzz-files", "keras-backends", "lint", "micro"),
        *("older-x86", "plug-in-asan", "plug-in-tsan", "python", "ray", "tensorflow"),
        *("tflite-runtime", "torch", "tsan", "web", "windows"),
    ]


def test_an_unknown_stage_is_an_error():
    with pytest.raises(SystemExit, match=r"expected stages out of lint, cpp.*; got speed"):
        run_tests.choose(["lint", "speed"])


def test_times_of_bazel_and_pytest_are_read():
    assert run_tests.BAZEL_RESULT.match("//tests/a:b_test      PASSED in 3.4s").groups() == (
        "//tests/a:b_test",
        "3.4",
    )
    assert not run_tests.BAZEL_RESULT.match("//tests/a:b_test (cached) PASSED in 3.4s")
    found = run_tests.PYTEST_RESULT.match("12.30s call     tests/a.py::test[x y]")
    assert found and found.groups() == ("12.30", "tests/a.py::test[x y]")


def test_a_failure_ends_a_run(monkeypatch, capfd):
    """The run names the stage, keeps the times, and does not tell of success."""
    stages = tuple(
        run_tests.Stage(name, "", (["sh", "-c", script],), (), setup="")
        for name, script in (("one", "echo 1.5s call a"), ("two", "exit 3"), ("three", "exit 0"))
    )
    monkeypatch.setattr(run_tests, "STAGES", stages)
    assert run_tests.run(list(stages)) == 1
    printed = capfd.readouterr().out
    assert "FAILED: two; to run it alone: tools/run_tests.py two" in printed
    assert re.search(r"1\.5  one: a", printed)
    assert "three:" not in printed and "all passed" not in printed


def test_a_run_ends_with_what_it_left_out(monkeypatch, capfd):
    stages = tuple(
        run_tests.Stage(name, f"about {name}", (["true"],), (), setup="") for name in ("one", "two")
    )
    monkeypatch.setattr(run_tests, "STAGES", stages)
    assert run_tests.run([stages[0]]) == 0
    printed = capfd.readouterr().out
    assert re.search(r"Not run; .*`make test-all` everything:\n +two +about two\n", printed)
    assert run_tests.run(list(stages)) == 0
    assert "Not run" not in capfd.readouterr().out


_CANNOT_RUN = ["sh", "-c", f"echo no such host; exit {run_tests.NOT_RUN}"]


@pytest.mark.parametrize("required", ["", "1"])
def test_a_stage_that_cannot_run_here_is_not_counted_as_passed(monkeypatch, capfd, required):
    """If everything is required, as in CI, the run fails, and later stages still run."""
    stages = tuple(
        run_tests.Stage(name, f"about {name}", (command,), (), setup="")
        for name, command in (("one", _CANNOT_RUN), ("two", ["true"]))
    )
    monkeypatch.setattr(run_tests, "STAGES", stages)
    monkeypatch.setenv(run_tests.REQUIRE_ALL, required)
    monkeypatch.delenv(run_tests.MAY_LACK, raising=False)
    assert run_tests.run(list(stages)) == (1 if required else 0)
    printed = capfd.readouterr().out
    title = "CANNOT RUN HERE, " if required else "Not run; "
    assert re.search(rf"{title}.*\n +one +about one\n", printed)
    assert not re.search(r"\d  one\n", printed) and re.search(r"\d  two\n", printed)
    assert ("all passed" in printed) == (not required)


def test_a_stage_that_may_be_lacking_makes_no_run_fail(monkeypatch, capfd):
    stages = (run_tests.Stage("one", "about one", (_CANNOT_RUN,), (), setup=""),)
    monkeypatch.setattr(run_tests, "STAGES", stages)
    monkeypatch.setenv(run_tests.REQUIRE_ALL, "1")
    monkeypatch.setenv(run_tests.MAY_LACK, "more,one")
    assert run_tests.run(list(stages)) == 0
    assert re.search(r"Not run; .*\n +one +about one\n", capfd.readouterr().out)


# Files that no test reads.
_UNTESTED = {
    ".bazelignore",
    ".clang-format",
    ".editorconfig",
    ".gitignore",
    "LICENSE",
    "MODULE.bazel",
    "benchmarks/peers/requirements.txt",
}


def test_every_file_concerns_more_than_lint():
    files = run_tests.git("ls-files")
    concerned = {path for path in files if _changed(path) != {"lint"}}
    assert set(files) - concerned <= _UNTESTED


def test_no_stage_begins_too_late(monkeypatch, capfd):
    """A stage that was asked for and not run is named, and the run fails."""
    stages = tuple(
        run_tests.Stage(name, f"about {name}", (["true"],), (), setup="") for name in ("one", "two")
    )
    monkeypatch.setattr(run_tests, "STAGES", stages)
    monkeypatch.setenv(run_tests.UNTIL, "1000")
    now = iter([999.0, 1001.0])
    monkeypatch.setattr(run_tests.time, "time", lambda: next(now))
    assert run_tests.run(list(stages)) == 1
    printed = capfd.readouterr().out
    assert "== one: about one" in printed and "== two" not in printed
    assert re.search(r"NOT RUN FOR WANT OF TIME.*\n  two +about two\n", printed)
    assert "FAILED" in printed and "passed" not in printed


def test_the_build_that_several_stages_need_runs_once(monkeypatch, capfd):
    build = ["sh", "-c", "echo built"]
    monkeypatch.setattr(run_tests, "BUILD", build)
    stages = tuple(
        run_tests.Stage(name, "", (build, ["echo", name]), (), setup="") for name in ("one", "two")
    )
    monkeypatch.setattr(run_tests, "STAGES", stages)
    assert run_tests.run(list(stages)) == 0
    lines = capfd.readouterr().out.splitlines()
    assert lines.count("built") == 1 and {"one", "two"} <= set(lines)
