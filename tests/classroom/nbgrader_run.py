"""``python nbgrader_run.py COURSE ASSIGNMENT``: what nbgrader says of submissions, as JSON.

COURSE holds ``source/ASSIGNMENT`` and ``wanted.json``: student → which notebook was filled in,
"release" (nbgrader's own) or "student" (ours, in ``student/``), and with which answers by grade_id.
A process of its own: nbgrader is made for the command line and warns a lot.
"""

import json
import sys
from pathlib import Path

import nbformat
from nbgrader.api import Gradebook
from nbgrader.apps.api import NbGraderAPI
from traitlets.config import Config


def fill(notebook: Path, answers: dict[str, str], to: Path) -> None:
    """Hand in a notebook with these answers in its cells."""
    filled = nbformat.read(notebook, as_version=4)
    for cell in filled.cells:
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
        cell.source = answers.get(grade_id, cell.source)
    to.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(filled, to)


def done(step: dict) -> None:
    if not step["success"]:
        sys.exit(f"{step.get('log')}\n{step.get('error')}")


def main(course: Path, assignment: str) -> dict[str, dict[str, float | None]]:
    """Student → cell → the score that nbgrader gave by itself; None where a person has to."""
    config = Config()
    config.CourseDirectory.root = str(course)
    config.CourseDirectory.db_url = f"sqlite:///{course}/gradebook.db"
    config.Execute.timeout = 300
    api = NbGraderAPI(config=config)
    done(api.generate_assignment(assignment, force=True))
    wanted = json.loads((course / "wanted.json").read_text("utf-8"))
    for student, (which, answers) in wanted.items():
        made = course / "student" if which == "student" else course / "release" / assignment
        for notebook in made.glob("*.ipynb"):
            to = course / "submitted" / student / assignment / notebook.name
            fill(notebook, answers, to)
        done(api.autograde(assignment, student, create=True, force=True))
    with Gradebook(config.CourseDirectory.db_url) as book:
        return {
            student: {
                grade.name: grade.auto_score
                for notebook in book.find_submission(assignment, student).notebooks
                for grade in notebook.grades
            }
            for student in wanted
        }


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]).resolve(), sys.argv[2])))
