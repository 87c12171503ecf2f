"""The workflows of GitHub: they run what exists here, may do little, and say the same versions."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from release.versions import project

ROOT = Path(__file__).resolve().parents[1]
FILES = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
WORKFLOWS = {file.stem: yaml.safe_load(file.read_text(encoding="utf-8")) for file in FILES}
STEPS = [
    (name, step)
    for name, workflow in WORKFLOWS.items()
    for job in workflow["jobs"].values()
    for step in job["steps"]
]
#: Without a grammar that takes longer to load than the check (bookext/kernels.py).
CHECK = (
    "import sys; sys.modules['rfc3987_syntax'] = None; from check_jsonschema import main; main()"
)
#: What a job may do besides reading the sources, and for which step.
WRITES = {
    ("pages", "publish"): {"contents": "write", "pages": "write"},
    ("drift", "newest"): {"contents": "read", "issues": "write"},
    ("links", "outside"): {"contents": "read", "issues": "write"},
}


def targets() -> set[str]:
    """What `make` can be asked for."""
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))


def module(name: str) -> Path:
    path = ROOT.joinpath(*name.split("."))
    return path / "__main__.py" if path.is_dir() else path.with_suffix(".py")


def test_there_is_a_workflow_for_tests_pages_drift_and_links():
    assert set(WORKFLOWS) == {"tests", "pages", "drift", "links"}


@pytest.mark.parametrize("kind", ["github-workflows", "dependabot"])
def test_github_would_read_them(kind):
    files = FILES if kind == "github-workflows" else [ROOT / ".github" / "dependabot.yml"]
    command = [sys.executable, "-c", CHECK, "--builtin-schema", f"vendor.{kind}"]
    done = subprocess.run([*command, *files], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_what_a_step_runs_exists():
    """One command a step: a make target, a script, or a module of this repository."""
    commands = [(name, step["run"]) for name, step in STEPS if "run" in step]
    assert len(commands) >= 10
    for name, line in commands:
        first, *rest = shlex.split(line)
        assert "\n" not in line.strip(), f"{name}: logic belongs into a script: {line}"
        if first == "make":
            assert set(rest) <= targets(), f"{name}: {line}"
        elif first.endswith("python"):
            assert rest[0] == "-m" and module(rest[1]).is_file(), f"{name}: {line}"
        else:
            assert (ROOT / first).stat().st_mode & 0o111, f"{name}: {line}"
            assert set(rest) <= targets(), f"{name}: {line}"


def test_what_others_type_stands_in_no_command():
    """A title or a branch in ``${{ }}`` would be run as a part of the command."""
    for name, step in STEPS:
        assert "${{" not in step.get("run", ""), f"{name}: hand it over with env"


def test_options_of_our_own_commands_exist():
    """Every ``--option`` that a workflow gives is in the help of what it runs."""
    for _, step in STEPS:
        if match := re.match(r"\S*python -m (release\.\w+)(.*)", step.get("run", "")):
            source = module(match[1]).read_text(encoding="utf-8")
            for option in re.findall(r"--[\w-]+", match[2]):
                assert f'"{option}"' in source, f"{match[1]} {option}"


def test_actions_are_pinned_by_commit_and_say_their_version():
    lines = [line for file in FILES for line in file.read_text("utf-8").splitlines()]
    uses = [line for line in lines if "uses:" in line]
    assert len(uses) >= 10
    for line in uses:
        assert re.search(r"uses: actions/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line), line
    commits = {}
    for action, commit in re.findall(r"uses: (\S+)@(\w+)", "\n".join(uses)):
        assert commits.setdefault(action, commit) == commit, f"two versions of {action}"


def test_jobs_may_do_what_they_need_and_no_more():
    for name, workflow in WORKFLOWS.items():
        assert workflow["permissions"] == {"contents": "read"}
        for job, what in workflow["jobs"].items():
            assert what.get("permissions", {}) == WRITES.get((name, job), {}), f"{name}: {job}"
            assert 5 <= what["timeout-minutes"] <= 90
            for step in what["steps"]:
                if step.get("uses", "").startswith("actions/checkout"):
                    assert step["with"]["persist-credentials"] is False
                if "github.token" in str(step):
                    assert (name, job) in WRITES


def test_every_python_that_the_package_names_is_tested():
    named = [c.rpartition(" ")[2] for c in project()["classifiers"] if "Python :: 3." in c]
    tested = WORKFLOWS["tests"]["jobs"]["course"]["strategy"]["matrix"]["python"]
    assert tested == named
    said = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"Python {', '.join(named[:-1])} or {named[-1]}" in said
    assert project()["requires-python"] == f">={named[0]}"
    for _, step in STEPS:
        version = step.get("with", {}).get("python-version", named[0])
        assert version in named or version == "${{ matrix.python }}"


def test_pages_follow_the_tests_and_come_from_main_alone():
    pages = WORKFLOWS["pages"]
    trigger = pages[True]["workflow_run"]  # YAML reads the key "on" as true
    assert trigger["workflows"] == [WORKFLOWS["tests"]["name"]] and trigger["branches"] == ["main"]
    assert "conclusion == 'success'" in pages["jobs"]["build"]["if"]
    assert "event != 'pull_request'" in pages["jobs"]["build"]["if"]
    assert pages["jobs"]["publish"]["needs"] == "build"
