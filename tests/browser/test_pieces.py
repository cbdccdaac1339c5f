"""In a page that nbconvert exported, without kernel and network: stepper, quiz, card, pictures."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.pages import open_page

pytestmark = pytest.mark.chromium

STEPS = 13  # inputs, 4 values, the seed, 7 messages, the end: 14 pictures, 13 steps between them


def stepper(page: Page, predict: bool = False) -> Locator:
    return page.locator(".bp-stepper").nth(int(predict))


def grad(piece: Locator, name: str) -> Locator:
    node = piece.locator("g.node").filter(has=piece.page.locator(f"text.name:text-is('{name}')"))
    return node.locator("text.grad")


def press(piece: Locator, key: str, times: int = 1) -> None:
    for _ in range(times):
        piece.page.keyboard.press(key)


# the stepper


def test_buttons_step_through_the_pass(page: Page) -> None:
    piece = stepper(page)
    expect(piece.locator(".bp-count")).to_have_text(f"0 / {STEPS}")
    expect(piece.get_by_role("button", name="One step back")).to_have_attribute("aria-disabled", "true")
    for _ in range(5):
        piece.get_by_role("button", name="One step on").click()
    expect(piece.locator(".bp-caption")).to_contain_text("seed")
    expect(grad(piece, "L")).to_have_text("1")
    piece.get_by_role("button", name="One step on").click()
    expect(piece.locator(".bp-caption .sum")).to_contain_text("∂L/∂v = 1 · (−0.604368) = −0.604368")
    expect(grad(piece, "v")).to_have_text("−0.604368")
    piece.get_by_role("button", name="To the end").click()
    expect(grad(piece, "a")).to_have_text("−0.18131")
    expect(grad(piece, "b")).to_have_text("−0.620919")


def test_arrow_keys_home_and_end_step(page: Page) -> None:
    piece = stepper(page)
    piece.locator(".bp-stage").focus()
    press(piece, "ArrowRight", 3)
    press(piece, "ArrowLeft")
    expect(piece.locator(".bp-count")).to_have_text(f"2 / {STEPS}")
    press(piece, "End")
    expect(piece.locator(".bp-count")).to_have_text(f"{STEPS} / {STEPS}")
    press(piece, "Home")
    expect(piece.locator(".bp-count")).to_have_text(f"0 / {STEPS}")


def test_slider_goes_anywhere_and_says_where(page: Page) -> None:
    piece = stepper(page)
    slider = piece.get_by_role("slider", name="Step")
    slider.focus()
    press(piece, "ArrowRight", 6)
    expect(slider).to_have_attribute("aria-valuetext", f"6 of {STEPS}, reverse pass")
    slider.fill("9")
    expect(piece.locator(".bp-count")).to_have_text(f"9 / {STEPS}")


def test_fan_out_shows_the_sum_so_far_and_what_is_missing(page: Page) -> None:
    piece = stepper(page)
    piece.get_by_role("slider").fill("10")
    expect(piece.locator(".bp-caption")).to_contain_text("Message 1 of 2: a = −0.604368, 1 more to come")
    press_next = piece.get_by_role("button", name="One step on")
    press_next.click()
    expect(piece.locator(".bp-caption")).to_contain_text(
        "Message 2 of 2: a = −0.604368 + 0.423057 = −0.18131, complete"
    )
    expect(piece.get_by_role("status")).to_contain_text("Message 2 of 2: the adjoint of a is −0.18131, complete.")


def test_play_runs_and_pauses(page: Page) -> None:
    piece = stepper(page)
    piece.get_by_role("button", name="Play").click()
    expect(piece.locator(".bp-count")).to_have_text(f"1 / {STEPS}")
    expect(piece.locator(".bp-count")).to_have_text(f"2 / {STEPS}")
    piece.get_by_role("button", name="Pause").click()
    expect(piece.get_by_role("button", name="Play")).to_be_visible()


def test_a_message_travels_unless_motion_is_reduced(page: Page) -> None:
    page.emulate_media(reduced_motion="no-preference")
    piece = stepper(page)
    seen = """() => { const s = document.querySelector('.bp-stepper'); window.dots = 0;
        new MutationObserver(list => list.forEach(m => m.addedNodes.forEach(n => {
            if (n.classList && n.classList.contains('pulse')) window.dots += 1;
        }))).observe(s, {childList: true, subtree: true}); }"""
    page.evaluate(seen)
    piece.get_by_role("slider").fill("5")
    piece.get_by_role("button", name="One step on").click()
    assert page.evaluate("window.dots") == 1
    expect(piece.locator(".pulse")).to_have_count(0)
    page.emulate_media(reduced_motion="reduce")
    piece.get_by_role("button", name="One step on").click()
    page.wait_for_timeout(50)
    assert page.evaluate("window.dots") == 1


def test_prediction_halts_at_fan_out_and_answers_mix_ups(page: Page) -> None:
    piece = stepper(page, predict=True)
    piece.get_by_role("button", name="To the end").click()
    field = piece.get_by_label("Message")
    expect(field).to_be_focused()
    expect(piece.locator(".bp-caption")).to_contain_text("Which message does w send to b?")
    expect(grad(piece, "b")).to_have_text("")
    stop = piece.locator(".bp-count").inner_text()
    piece.get_by_role("button", name="One step on").click(force=True)
    expect(piece.locator(".bp-count")).to_have_text(stop)

    answers = {"": "Enter a number", "-0.285633": "wrong sign", "0.45": "That is the adjoint of w.", "0.634740": "the slope alone",
               "1.08474": "multiplied along an edge, not added", "7": "the adjoint of w times the slope"}  # fmt: skip
    for wrong, words in answers.items():
        field.fill(wrong)
        field.press("Enter")
        expect(piece.locator(".bp-tell")).to_contain_text(words)
    field.fill("0,2856")  # as numbers are written elsewhere
    field.press("Enter")
    expect(piece.locator(".bp-caption")).to_contain_text("Right.")
    expect(grad(piece, "b")).to_have_text("0.285633")
    press(piece, "End")
    expect(piece.locator(".bp-caption")).to_contain_text("send to a?")
    piece.get_by_role("button", name="Show me").click()
    expect(piece.locator(".bp-caption")).to_contain_text("−0.604368")
    assert piece.locator(".bp-caption var.bar").count()


def test_prediction_is_switched_on_half_way_and_off_again(page: Page) -> None:
    piece = stepper(page)
    predict = piece.get_by_role("button", name="Predict")
    expect(predict).to_have_attribute("aria-pressed", "false")
    piece.get_by_role("slider").fill("9")  # w has sent b its message; what is shown is not asked again
    predict.click()
    expect(piece.locator(".bp-count")).to_have_text(f"9 / {STEPS}")
    piece.get_by_role("button", name="To the end").click()
    expect(piece.locator(".bp-caption")).to_contain_text("Which message does v send to a?")
    predict.click()
    expect(piece.get_by_label("Message")).to_have_count(0)
    piece.get_by_role("button", name="To the end").click()
    expect(piece.locator(".bp-count")).to_have_text(f"{STEPS} / {STEPS}")
    predict.click()  # at the end the pass begins anew
    expect(piece.locator(".bp-count")).to_have_text(f"0 / {STEPS}")


def test_without_scripts_the_stepper_is_a_picture_with_every_number(
    browser: Browser, exported: dict[str, Path]
) -> None:
    page = open_page(browser, exported["light"].as_uri(), scripts=False)
    piece = stepper(page)
    for number in ("0.423057", "−0.906552", "0.285633", "−0.18131", "−0.620919"):
        expect(piece.locator("svg text").get_by_text(number, exact=True).first).to_be_visible()
    expect(piece.get_by_role("button")).to_have_count(0)
    piece.locator("summary").click()
    expect(piece.locator("tbody tr")).to_have_count(7)
    for number in ("1.5", "0.63474", "−0.906552", "0.285633", "−0.620919"):
        expect(page.locator(".bp-stepper.forward svg text").get_by_text(number, exact=True).first).to_be_visible()
    expect(page.locator(".bp-quiz .bp-noscript")).to_be_visible()
    page.context.close()


# forward mode


def test_tangents_run_with_the_edges_one_product_a_step(page: Page) -> None:
    piece = page.locator(".bp-stepper.forward")
    expect(piece.locator(".bp-caption")).to_contain_text("The tangents are the seed.")
    assert [grad(piece, name).text_content() for name in "abuL"] == ["0", "1", "", ""]
    piece.locator(".bp-stage").focus()
    press(piece, "ArrowRight", 2)
    expect(piece.locator(".bp-caption .sum")).to_contain_text("∂u/∂a · a = −0.7 · 0 = 0")
    expect(piece.locator(".bp-caption")).to_contain_text("Slot 1 of 2: u = 0, 1 more to come")
    press(piece, "ArrowRight")
    expect(piece.locator(".bp-caption .sum")).to_contain_text("1.5 · 1 = 1.5")
    expect(piece.get_by_role("status")).to_contain_text("Slot 2 of 2: the tangent of u is 1.5, complete.")
    expect(grad(piece, "u")).to_have_text("1.5")
    expect(piece.locator("g.node.gets text.name")).to_have_text("u")
    expect(piece.get_by_role("slider")).to_have_attribute("aria-valuetext", "3 of 12, forward pass")
    piece.get_by_role("button", name="To the end").click()
    expect(grad(piece, "L")).to_have_text("−0.620919")
    expect(piece.locator("svg .back").first).to_be_hidden()


def test_a_product_travels_to_the_later_node(page: Page) -> None:
    page.emulate_media(reduced_motion="no-preference")
    piece = page.locator(".bp-stepper.forward")
    piece.get_by_role("slider").fill("1")
    page.evaluate("""() => { window.path = []; new MutationObserver(list => list.forEach(m => {
        if (m.target.classList?.contains("pulse") && m.attributeName === "cx") window.path.push(+m.target.getAttribute("cx"));
    })).observe(document.querySelector(".bp-stepper.forward"), {attributes: true, subtree: true}); }""")
    piece.get_by_role("button", name="One step on").click()
    expect(piece.locator(".pulse")).to_have_count(0)
    path = page.evaluate("window.path")
    assert len(path) > 2 and path[0] < path[-1]  # graphs are drawn from left to right


def test_prediction_forward_asks_for_products_and_answers_mix_ups(page: Page) -> None:
    piece = page.locator(".bp-stepper.forward")
    piece.get_by_role("button", name="Predict").click()
    piece.get_by_role("button", name="To the end").click()
    expect(piece.locator(".bp-caption")).to_contain_text("Which product does u get from a, in slot 1?")
    field = piece.get_by_label("Product")
    field.fill("-0.7")
    field.press("Enter")
    expect(piece.locator(".bp-tell")).to_contain_text("It still has to be multiplied by the tangent of a.")
    field.fill("0")
    field.press("Enter")
    expect(piece.locator(".bp-caption")).to_contain_text("Right.")
    expect(piece.locator(".bp-caption")).to_contain_text("Slot 1 of 2: u = 0, 1 more to come")
    press(piece, "ArrowRight")
    expect(piece.locator(".bp-caption")).to_contain_text("Which product does u get from b, in slot 2?")


# the quiz


def test_an_answer_is_explained_and_can_be_tried_again(page: Page) -> None:
    first = page.locator(".bp-quiz fieldset").nth(0)
    first.locator("label").get_by_text("1", exact=True).click()
    expect(first.locator(".bp-option").nth(0)).to_contain_text("Not this. SECRET-ONE is one message only.")
    first.get_by_text("2", exact=True).click()
    expect(first).to_contain_text("Yes. SECRET-TWO")
    expect(first).not_to_contain_text("SECRET-ONE")
    expect(first.locator(".bp-why math")).to_be_visible()
    first.get_by_role("button", name="Try again").click()
    expect(first).not_to_contain_text("SECRET-TWO")
    expect(first.get_by_role("radio", checked=True)).to_have_count(0)
    expect(first.get_by_role("radio").first).to_be_focused()


def test_keys_choose_without_giving_the_answer_away(page: Page) -> None:
    first = page.locator(".bp-quiz fieldset").nth(0)
    first.get_by_role("radio").first.focus()
    page.keyboard.press("ArrowDown")
    expect(first.get_by_role("radio").nth(1)).to_be_checked()
    expect(first).not_to_contain_text("SECRET")
    page.keyboard.press("Enter")
    expect(first.get_by_role("status")).to_contain_text("Right. ✓ Yes. SECRET-TWO messages")


def test_several_answers_are_judged_together(page: Page) -> None:
    second = page.locator(".bp-quiz fieldset").nth(1)
    check = second.get_by_role("button", name="Check my choice")
    check.click()
    expect(second.locator(".bp-result")).to_have_text("Choose what holds, then check.")
    second.get_by_role("checkbox").nth(0).check()
    check.click()
    expect(second.locator(".bp-result")).to_have_text("So far so good: one more holds.")
    second.get_by_role("checkbox").nth(1).check()
    check.click()
    expect(second.locator(".bp-result")).to_have_text("Right.")
    second.get_by_role("checkbox").nth(2).check()
    check.click()
    expect(second).to_contain_text("It only computes the gradient.")


def test_answers_are_not_in_the_page_source(exported: dict[str, Path]) -> None:
    text = exported["light"].read_text("utf-8")
    outputs = text[text.index('class="bp bp-quiz"') :]
    assert "SECRET" not in outputs and "It only computes" not in outputs


# all of it


def test_the_card_tells_the_misconception_before_all_else(page: Page) -> None:
    card = page.locator(".bp-card")
    expect(card.locator(".bp-lead")).to_have_text("You overwrote a gradient.")
    expect(card.locator("g.node.first")).to_contain_text("first difference")
    card.get_by_text("A value used twice").click()
    expect(card).to_contain_text("a + a: 1 for 2.")
    card.get_by_role("link", name="Adding up what arrives").click()
    expect(page.get_by_role("heading", name="Adding up what arrives")).to_be_in_viewport()


def test_nothing_is_fetched_and_no_two_ids_are_equal(page: Page) -> None:
    doubled = """() => [...document.querySelectorAll('.bp [id]')].map(e => e.id).filter((x, i, all) => all.indexOf(x) !== i)"""
    assert page.evaluate(doubled) == []
    assert page.locator(".bp [src], .bp link").count() == 0


CONTRAST = """() => {
  const light = c => { const f = v => (v /= 255, v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * f(c[0]) + 0.7152 * f(c[1]) + 0.0722 * f(c[2]); };
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const rgba = text => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = text; canvas.fillRect(0, 0, 1, 1);
    const d = canvas.getImageData(0, 0, 1, 1).data; return [d[0], d[1], d[2], d[3] / 255]; };
  const over = (top, below) => [0, 1, 2].map(i => top[i] * top[3] + below[i] * (1 - top[3]));
  const behind = e => { const list = []; for (; e; e = e.parentElement) list.push(rgba(getComputedStyle(e).backgroundColor));
    return list.reverse().reduce((below, top) => over(top, below), [255, 255, 255]); };
  const poor = [];
  for (const e of document.querySelectorAll('.bp *')) {
    const text = [...e.childNodes].filter(n => n.nodeType === 3).map(n => n.data.trim()).join('');
    if (!text || ['STYLE', 'SCRIPT', 'title', 'desc', 'OPTION'].includes(e.tagName)) continue;
    const style = getComputedStyle(e);
    if (e.closest('[aria-disabled=true], .bp-hidden, .later') || style.visibility === 'hidden' || !e.getClientRects().length) continue;
    let ground = behind(e.closest('svg') ? e.closest('svg').parentElement : e);
    const svg = e.closest('svg');
    if (svg) {
      const box = e.closest('g')?.querySelector(e.matches('.flag-text') ? '.flag' : e.matches('.sign') ? '.badge' : 'rect');
      if (box) ground = over(rgba(getComputedStyle(box).fill), ground);
    }
    const ink = over(rgba(svg ? style.fill : style.color), ground);
    const [a, b] = [light(ink), light(ground)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) poor.push(`${ratio.toFixed(2)} ${e.tagName}.${e.getAttribute('class')} ${text.slice(0, 30)}`);
  }
  return poor;
}"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_word_has_enough_contrast(browser: Browser, exported: dict[str, Path], theme: str) -> None:
    page = open_page(browser, exported[theme].as_uri())
    for piece in (stepper(page), stepper(page, predict=True), page.locator(".bp-stepper.forward")):
        piece.get_by_role("button", name="To the end").click()
    page.get_by_label("Message").fill("7")
    page.get_by_label("Message").press("Enter")
    page.locator(".bp-quiz fieldset").nth(0).get_by_role("radio").nth(0).click()
    page.locator(".bp-quiz fieldset").nth(1).get_by_role("checkbox").nth(0).check()
    page.locator(".bp-quiz fieldset").nth(1).get_by_role("button", name="Check my choice").click()
    assert page.evaluate(CONTRAST) == []
    page.context.close()


# in VS Code

# What its webview gives an output: body classes and colours of its own, rules for bare tables, and scripts that are made
# anew after the HTML is in place and taken away again at once. No JupyterLab, no jQuery; `require` is an empty object.
WEBVIEW = """<style>
  body { background: %s; color: gray; margin: 0; }
  code { color: gray; background: #8888; padding: 1px 3px; }
  table, thead, tr, th, td, tbody { border: none !important; }
  table { width: 100%%; }
  table, th, tr { text-align: left !important; }
</style><html style="--vscode-editor-background: %s"><body class="vscode-%s vscode-reduce-motion">
<script>self.require = {}</script><div id="container"></div></body></html>"""
RENDER = """outputs => outputs.forEach(html => {
  const element = document.createElement("div");
  element.innerHTML = html;
  document.getElementById("container").append(element);
  for (const script of element.querySelectorAll("script")) {
    const again = document.createElement("script");
    again.text = script.innerText;
    element.appendChild(again).remove();
  }
})"""


@pytest.mark.parametrize(("theme", "ground"), [("light", "#ffffff"), ("dark", "#1f1f1f")])
def test_every_piece_works_in_vs_code(browser: Browser, exported: dict[str, Path], theme: str, ground: str) -> None:
    untouched = open_page(browser, exported["light"].as_uri(), scripts=False)
    outputs = untouched.locator(".bp").evaluate_all("pieces => pieces.map(piece => piece.outerHTML)")
    untouched.context.close()

    page = open_page(browser, "about:blank")
    page.emulate_media(color_scheme="light" if theme == "dark" else "dark")  # VS Code's theme counts, not the system's
    page.set_content(WEBVIEW % (ground, ground, theme))
    page.evaluate(RENDER, outputs)
    piece = stepper(page, predict=True)
    piece.locator(".bp-stage").focus()
    press(piece, "End")
    piece.get_by_label("Message").fill("7")
    press(piece, "Enter")
    expect(piece.locator(".bp-tell")).to_contain_text("Not yet.")
    piece = stepper(page)
    piece.locator("summary").click()
    assert piece.locator("td").last.evaluate("cell => getComputedStyle(cell).textAlign") == "right"
    piece.get_by_role("slider").fill("5")
    piece.get_by_role("button", name="One step on").click()
    expect(grad(piece, "v")).to_have_text("−0.604368")
    assert piece.locator(".pulse").count() == 0
    page.locator(".bp-quiz fieldset").nth(0).get_by_role("radio").nth(1).click()
    expect(page.locator(".bp-quiz")).to_contain_text("Yes. SECRET-TWO")
    assert page.evaluate(CONTRAST) == []
    assert page.errors == []  # type: ignore[attr-defined]
    page.context.close()
