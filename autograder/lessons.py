"""The lessons of the course: one row each, the only place where their names stand."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Lesson:
    """A lesson: its folder (nbgrader's assignment name), its notebook and its title."""

    name: str
    notebook: str
    title: str

    @property
    def number(self) -> int:
        return int(self.name.split("-")[0])

    @property
    def module(self) -> str:
        """Name of the lesson's module in autograder.exercises and autograder.student.probes."""
        return self.notebook


LESSONS: tuple[Lesson, ...] = (
    Lesson("1-chain-rule", "chain_rule", "The chain rule"),
    Lesson("2-forward-mode", "forward_mode", "Forward mode: derivatives that travel along"),
    Lesson("3-reverse-mode", "reverse_mode", "Reverse mode: the backward pass"),
    Lesson("4-softmax-backprop", "softmax_backprop", "Backprop through softmax and an n-gram network"),
    Lesson("5-ngram-training", "ngram_training", "Training the neural n-gram"),
)


def find(name: str) -> Lesson:
    """The lesson called `name`; KeyError with the known names if there is none."""
    for lesson in LESSONS:
        if name in (lesson.name, lesson.notebook):
            return lesson
    known = ", ".join(lesson.name for lesson in LESSONS)
    raise KeyError(f"There is no lesson {name!r}. Lessons: {known}.")


def grade_id(tag: str) -> str:
    """A tag ("3.1", "3.1-solution") as a grade_id of nbgrader, which allows no dots: "3_1-solution"."""
    return tag.replace(".", "_")


def tag_of(grade_id: str) -> str:
    """The tag that a grade_id stands for: "3.1-solution" for "3_1-solution"."""
    return grade_id.replace("_", ".")


def lesson_of(exercise_id: str) -> Lesson:
    """The lesson that exercise `exercise_id` ("3.2") belongs to."""
    number = exercise_id.split(".", 1)[0]
    for lesson in LESSONS:
        if str(lesson.number) == number:
            return lesson
    raise KeyError(f"There is no lesson with an exercise {exercise_id!r}.")
