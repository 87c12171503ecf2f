"""``python -m classroom``: assign chapters, grade what comes back, report what the class knows."""

from __future__ import annotations

import argparse
import io
import os
import sys
import traceback
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from classroom.assignment import ClassroomError

DONE, LOOK, WRONG, OUR_FAULT, STOPPED = 0, 1, 2, 3, 130
EXIT_CODES = """\
exit codes:
  0    done
  1    done, but some submissions or answers need a look: they are listed
  2    wrong use, or something that cannot be read or written: the message says what
  3    a fault of this program, with a trace to report
  130  stopped by Ctrl-C: what was graded until then is kept
"""
ABOUT = "Assign chapters of the course, grade what comes back, report what the class knows."
MAIN = f"""\
examples:
  python -m classroom assign 3 4 --to week2
  python -m classroom grade submitted --assignment week2 --to results/grades.csv
  python -m classroom report results/grades.csv --to results/report.html

{EXIT_CODES}"""
ASSIGN = f"""\
The book must have been built (make book). In DIR:
  student/         what the class gets: a notebook for each chapter; with --seed-from a folder for
                   each student
  instructor/      the same with solutions and hidden tests; never hand it out
  questions.json   questions and points; points may be changed
  answers.csv      with --seed-from: what each copy has
  bank/            with --bank: the checks of your questions
  handout.html     a page for the class

examples:
  python -m classroom assign 3 4 --to week2
  python -m classroom assign 3 --to week2 --seed-from s01 s02 s03
  python -m classroom assign 3 --to week2 --seed-from @class.txt     (an id on each line)
  python -m classroom assign 3 --to week2 --bank my-questions

{EXIT_CODES}"""
GRADE = f"""\
A submission is SUBMISSIONS/<student>/<notebook>.ipynb (subfolders are looked through, so nbgrader's
submitted/ works), SUBMISSIONS/<student>_<notebook>.ipynb or SUBMISSIONS/<student>.ipynb.
A notebook above 20 MB is not opened. Links are not followed.

Beside CSV:
  grades.csv             a row for each student; percent and open stay blank until every open answer
                         has its points
  grades-questions.csv   a row for each student and question, with diagnosis and message
  feedback/              a page for each student
  rubric.csv             a form for the open answers: fill in points and comment, grade again
  rubric.html            the open answers beside solution and criteria
  .grades/               what has been run: a second call runs only what is new, so new points in
                         questions.json or rubric.csv cost no run; may be deleted
Give each assignment a folder of its own.

For a learning platform `student` is the key and `total` the grade; questions have columns too.
Moodle imports the table as it is (map student to its user field, total to an item); for Canvas copy
total into the table that its gradebook exports. The tables are UTF-8 with a byte order mark.

examples:
  python -m classroom grade submitted --assignment week2 --to results/grades.csv
  python -m classroom grade submitted --assignment week2 --to results/grades.csv \\
      --book https://example.org/attention/

{EXIT_CODES}"""
REPORT = f"""\
Reads CSV and the table of questions beside it (grades-questions.csv). Shows no names.

examples:
  python -m classroom report results/grades.csv
  python -m classroom report results/grades.csv --to results/report.html

{EXIT_CODES}"""


def parser() -> argparse.ArgumentParser:
    """The command line."""
    whole = _parser(None, "python -m classroom", ABOUT, MAIN)
    commands = whole.add_subparsers(dest="command", required=True, metavar="COMMAND")
    one = _parser(commands, "assign", "Make an assignment folder of some chapters.", ASSIGN)
    one.add_argument("chapters", nargs="*", metavar="CHAPTER", help="3, or 03-scaled-dot-product")
    one.add_argument("--to", type=Path, required=True, metavar="DIR", help="the folder to make")
    one.add_argument(
        "--seed-from", nargs="+", action="extend", default=[], metavar="ID",
        help="student ids: each gets data of their own, always the same for an id",
    )  # fmt: skip
    one.add_argument(
        "--bank", type=Path, metavar="DIR",
        help="a folder of your own questions, with chapters or alone",
    )  # fmt: skip
    one = _parser(commands, "grade", "Grade submissions: tables, feedback, a form.", GRADE)
    one.add_argument("submissions", type=Path, metavar="SUBMISSIONS", help="what was handed in")
    one.add_argument(
        "--assignment", type=Path, required=True, metavar="DIR", help="what assign has made"
    )
    one.add_argument("--to", type=Path, required=True, metavar="CSV", help="the table to write")
    one.add_argument(
        "--book", default="", metavar="URL",
        help="where the book is: messages then link to its sections",
    )  # fmt: skip
    one = _parser(commands, "report", "Show which misconceptions the class has.", REPORT)
    one.add_argument("grades", type=Path, metavar="CSV", help="what grade has written")
    one.add_argument("--to", type=Path, metavar="HTML", help="default: report.html beside CSV")
    return whole


def _parser(commands, name: str, about: str, more: str) -> argparse.ArgumentParser:
    """One help page: what it is about, and more behind the options, line by line."""
    raw = argparse.RawDescriptionHelpFormatter
    make = argparse.ArgumentParser if commands is None else partial(commands.add_parser, help=about)
    return make(name, description=about, epilog=more, formatter_class=raw)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; a ClassroomError becomes one message."""
    for stream in (sys.stdout, sys.stderr):  # a name that the terminal cannot show stops nothing
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    asked = parser().parse_args(arguments)
    command = {"assign": _assign, "grade": _grade, "report": _report}[asked.command]
    try:
        return command(asked)
    except ClassroomError as error:
        return _wrong(str(error))
    except KeyboardInterrupt:
        print(
            "\nStopped. What was graded is kept: the same call goes on from there.", file=sys.stderr
        )
        return STOPPED
    except BrokenPipeError:  # whoever read our output has closed it, `| head` for one
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except OSError as error:
        return _wrong(f"{error.filename or 'a file'}: {error.strerror or error}")
    except Exception:
        traceback.print_exc()
        print(
            "This is a fault of python -m classroom; please report the lines above.",
            file=sys.stderr,
        )
        return OUR_FAULT


def _wrong(message: str) -> int:
    print(f"python -m classroom: {message}", file=sys.stderr)
    return WRONG


def _assign(asked: argparse.Namespace) -> int:
    from classroom.assign import assign
    from classroom.pages import many

    made = assign(asked.chapters, asked.to, seed_from=_ids(asked.seed_from), bank=asked.bank)
    points = sum(question.points for question in made.questions)
    print(
        f"{made.folder}: {many(len(made.notebooks), 'notebook')}, "
        f"{many(len(made.questions), 'question')}, {points:g} points"
        + (f", {many(len(made.variations), 'student')}" if made.variations else "")
    )
    print(f"Hand out {made.folder / 'student'} and {made.folder / 'handout.html'}.")
    print("Keep what else is there to yourself: solutions, hidden tests and keys.")
    return DONE


def _ids(given: Sequence[str]) -> list[str]:
    """Student ids; @FILE stands for the lines of a file."""
    found: list[str] = []
    for id in given:
        if id.startswith("@"):
            try:
                lines = Path(id[1:]).read_text("utf-8-sig").splitlines()
            except (OSError, UnicodeDecodeError) as error:
                raise ClassroomError(f"--seed-from {id}: cannot be read: {error}") from None
            found += [line.strip() for line in lines if line.strip()]
        else:
            found.append(id)
    return found


def _grade(asked: argparse.Namespace) -> int:
    from classroom.session import grade
    from classroom.summary import summary

    done = grade(asked.submissions, asked.assignment, asked.to, book=asked.book)
    print(summary(done))
    return LOOK if done.look else DONE


def _report(asked: argparse.Namespace) -> int:
    from classroom.report import read_report
    from classroom.report_page import report_page
    from classroom.tables import write_file

    to = asked.to or asked.grades.with_name("report.html")
    if to.suffix.lower() not in (".html", ".htm"):
        raise ClassroomError(f"--to {to}: the name of a page is expected, such as report.html")
    report = read_report(asked.grades)
    write_file(to, report_page(report, asked.grades.stem))
    for question, mistake in report.worth_talking_about:
        print(f"{mistake.count} of {question.students}  {mistake.name}  ({question.title})")
    print(f"The report is {to}")
    return DONE


if __name__ == "__main__":
    sys.exit(main())
