"""Quizzes in the output cell: read from a mini format, answered in the browser, nothing stored or sent.

    ? Which gradient does a + a send to a?
    ( ) 1 :: That is one of the two messages.
    (x) 2 :: One message from each slot.

    ? Which of these hold?          (several may be right: square brackets)
    [x] $\\bar a$ is a sum :: One summand an edge.
    [ ] ...

A blank line ends a question. A line that starts with no marker continues the line before it. Text is Markdown with
`$math$`. In a built notebook the text is encoded, so that the right answer cannot be read at a glance.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import html
import json
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field

from autograder.student import session, theme

_PREFIX = "quiz1:"
_OPTION = re.compile(r"(?P<open>[(\[])(?P<mark>[ xX]?)[)\]]\s+(?P<rest>.*)", re.DOTALL)


@dataclass
class Option:
    text: str
    why: str
    right: bool


@dataclass
class Question:
    text: str
    several: bool = False
    options: list[Option] = field(default_factory=list)


def quiz(name: str, text: str) -> None:
    """Show the quiz `name` whose questions are `text`, in the mini format or encoded. Silent under the grader."""
    if session.quiet():
        return
    questions = parse(decode(text))
    theme.show(quiz_html(name, questions), plain(questions))


def encode(text: str) -> str:
    """Quiz text so that a person does not read the answers in passing; `decode` undoes it."""
    # Stored, not deflated: deflated bytes differ from one zlib to another, and builds must not.
    packed = base64.b64encode(zlib.compress(text.encode("utf-8"), 0)).decode("ascii")
    return _PREFIX + "\n".join(packed[i : i + 100] for i in range(0, len(packed), 100))


def decode(text: str) -> str:
    """Quiz text in the mini format, whether `text` is encoded or not."""
    stripped = text.strip()
    if not stripped.startswith(_PREFIX):
        return text
    try:
        return zlib.decompress(base64.b64decode("".join(stripped[len(_PREFIX) :].split()), validate=True)).decode(
            "utf-8"
        )
    except (binascii.Error, zlib.error, UnicodeDecodeError) as error:
        raise ValueError("This quiz's text was changed after it was built; fetch the notebook again.") from error


def parse(text: str) -> list[Question]:
    """The questions in `text` (mini format, not encoded).

    Raises:
        ValueError: naming the line, for text outside a question, mixed brackets, an option without an explanation,
            fewer than two options, no right answer, several right answers in round brackets, or no question at all.
    """
    questions: list[Question] = []
    entries: list[tuple[int, str]] = []  # (line, text) of what may still be continued
    for at, line in enumerate(text.splitlines(), 1):
        marked = line.strip()
        if not marked:
            if entries and entries[-1][1].count("```") % 2:
                entries[-1] = (entries[-1][0], entries[-1][1] + "\n")
            continue
        if marked.startswith("?") or _OPTION.match(marked):
            entries.append((at, marked))
        elif entries:
            entries[-1] = (entries[-1][0], f"{entries[-1][1]}\n{line.rstrip()}")
        else:
            raise ValueError(f"Quiz line {at}: a question starts with '?', and this line does not: {marked[:60]!r}")
    for at, entry in entries:
        if entry.startswith("?"):
            questions.append(Question(_dedent(entry[1:])))
        elif not questions:
            raise ValueError(f"Quiz line {at}: an option before the first question")
        else:
            _add_option(questions[-1], entry, at)
    if not questions:
        raise ValueError("The quiz has no question.")
    for question in questions:
        _complete(question)
    return questions


def _dedent(text: str) -> str:
    first, *rest = text.strip().split("\n")
    indent = min((len(line) - len(line.lstrip()) for line in rest if line.strip()), default=0)
    return "\n".join([first, *(line[indent:] for line in rest)])


def _add_option(question: Question, entry: str, at: int) -> None:
    found = _OPTION.match(entry)
    assert found is not None
    several = found["open"] == "["
    if question.options and several != question.several:
        raise ValueError(f"Quiz line {at}: round and square brackets in one question")
    question.several = several
    text, separator, why = found["rest"].partition("::")
    if not separator or not why.strip() or not text.strip():
        raise ValueError(
            f"Quiz line {at}: an option reads '( ) text :: explanation', and this one lacks a part: {entry[:60]!r}"
        )
    question.options.append(Option(_dedent(text), _dedent(why), found["mark"] in ("x", "X")))


def _complete(question: Question) -> None:
    about = f"Quiz question {question.text[:60]!r}"
    right = sum(option.right for option in question.options)
    if not question.text:
        raise ValueError("A quiz question has no text.")
    if len(question.options) < 2:
        raise ValueError(f"{about} has fewer than two options.")
    if right == 0:
        raise ValueError(f"{about} has no right answer: mark one with an x.")
    if right > 1 and not question.several:
        raise ValueError(f"{about} has {right} right answers: use square brackets where several hold.")


def plain(questions: list[Question]) -> str:
    """The questions and options as plain text, without the answers."""
    lines = []
    for number, question in enumerate(questions, 1):
        lines.append(f"{number}. {question.text}")
        lines += [f"   {'[ ]' if question.several else '( )'} {option.text}" for option in question.options]
    return "\n".join([*lines, "(Open this notebook in JupyterLab to answer.)"])


def quiz_html(name: str, questions: list[Question]) -> str:
    """The quiz as one self-contained piece of HTML. What is right, and why, is in it only encoded."""
    inline, block = _markdown()
    # The same quiz always gets the same ids, so that a notebook that runs twice saves the same output.
    unique = "bpq" + hashlib.sha256(repr((name, questions)).encode()).hexdigest()[:8]
    fields = []
    for number, question in enumerate(questions, 1):
        kind = "checkbox" if question.several else "radio"
        options = []
        for k, option in enumerate(question.options, 1):
            key = f"{unique}-{number}-{k}"
            options.append(
                f'<div class="bp-option"><label><input type="{kind}" name="{unique}-{number}" value="{k}"{_spoken(option.text)}>'
                f'<span>{inline(option.text)}</span></label><div class="bp-why" id="{key}"></div></div>'
            )
        count = len(questions)
        place = f'<span class="bp-nth">Question {number} of {count}</span>' if count > 1 else ""
        hint = '<p class="bp-several">More than one may hold.</p>' if question.several else ""
        fields.append(
            f"<fieldset><legend>{place}{block(question.text)}</legend>{hint}<div>{''.join(options)}</div>"
            '<div class="bp-foot"><button type="button" class="bp-main">Check my choice</button>'
            '<button type="button" hidden>Try again</button><span class="bp-result" aria-hidden="true"></span></div>'
            '<div class="bp-live bp-hidden" role="status" aria-live="polite"></div></fieldset>'
        )
    answers = [[{"right": o.right, "why": inline(o.why)} for o in q.options] for q in questions]
    packed = base64.b64encode(json.dumps(answers, separators=(",", ":")).encode()).decode()
    noscript = (
        '<p class="bp-noscript">Answers appear where scripts run: in JupyterLab, Notebook, VS Code or a browser.</p>'
    )
    label = html.escape(f"Quiz {name}", quote=True)
    return theme.piece(
        "quiz",
        "".join(fields) + noscript,
        ("buttons", "quiz"),
        script="quiz.js",
        attributes=f' role="group" aria-label="{label}" data-answers="{packed}"',
    )


def _spoken(text: str) -> str:
    """A label in words for an option that is a formula and nothing else: not every reader makes a name of MathML."""
    formula = re.fullmatch(r"\$([^$]+)\$", text.strip())
    if not formula:
        return ""
    words = formula[1]
    for pattern, word in _WORDS:
        words = re.sub(pattern, word, words)
    return f' aria-label="{html.escape(" ".join(words.split()), quote=True)}"'


def _markdown() -> tuple[Callable[[str], str], Callable[[str], str]]:
    """Markdown → HTML, in a line and in blocks. Formulas become MathML, which every browser sets without a script."""
    from latex2mathml.converter import convert
    from markdown_it import MarkdownIt

    markdown = MarkdownIt("commonmark", {"html": False})

    def math_kept(render: Callable[[str], str]) -> Callable[[str], str]:
        def run(text: str) -> str:
            formulas: list[str] = []

            def hold(match: re.Match[str]) -> str:
                if match["code"]:
                    return match["code"]
                latex, display = (match["block"], "block") if match["block"] else (match["line"], "inline")
                formulas.append(spaced(convert(latex.strip(), display=display)))
                return f"\ue000{len(formulas) - 1}\ue001"

            held = _MATH.sub(hold, text)
            return re.sub("\ue000(\\d+)\ue001", lambda m: formulas[int(m[1])], render(held).strip())

        return run

    return math_kept(markdown.renderInline), math_kept(markdown.render)


def spaced(mathml: str) -> str:
    """MathML of latex2mathml's with the spaces that TeX would set: none after a sign or round a slash, a thin one after tanh and log."""
    for pattern, replacement in _SPACES:
        mathml = pattern.sub(replacement, mathml)
    return mathml


_WORDS = (
    (r"\\[td]?frac\{([^{}]*)\}\{([^{}]*)\}", r" \1 over \2 "),
    (r"\\bar\{?\s*(\w)\}?", r" \1 bar "),
    (r"\\partial\s*", "∂"),
    (r"\\cdot", " times "),
    (r"\\(?:left|right|,|;|!|quad|text|mathrm)", " "),
    (r"\\(?:rightarrow|to)", " to "),
    (r"\\(\w+)", r" \1 "),
    (r"[{}]", " "),
)
_SPACES = (
    # A minus after another operator, a comma or an opening bracket is a sign.
    (re.compile(r"(<mo[^>]*>(?!&#x00029;|&#x0005D;|&#x0007C;|[)\]!|])[^<]*</mo>)<mo>&#x02212;</mo>"),
     r'\1<mo form="prefix">&#x02212;</mo>'),
    (re.compile(r"<mo>(∂|&#x02202;)</mo>"), r"<mi>\1</mi>"),
    (re.compile(r"<mo>(/|&#x0002F;)</mo>"), r'<mo lspace="0.06em" rspace="0.06em">\1</mo>'),
    (re.compile(r"(<m[io]>(?:tanh|cosh|sinh|exp|log|ln|max|min|sin|cos)</m[io]>)(?=<m[infrs])"),
     r'\1<mspace width="0.167em"/>'),
)  # fmt: skip
_MATH = re.compile(r"(?P<code>```.*?```|`[^`\n]*`|\\\$)|\$\$(?P<block>.+?)\$\$|\$(?P<line>[^$\n]+?)\$", re.DOTALL)
