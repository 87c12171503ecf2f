"""A small course, built once for all tests of the classroom that need one."""

import pytest
import small_course


@pytest.fixture(scope="session")
def course(tmp_path_factory):
    """The root of a course whose chapter 3 has every kind of exercise."""
    return small_course.build(tmp_path_factory.mktemp("course")).folder
