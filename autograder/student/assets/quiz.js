// Brings the quizzes of a page to life. What is right and why is decoded here; nothing is stored and nothing is sent.
(() => {
  const onKey = new WeakMap(); // what a key does in an input
  const decode = text => JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(text), c => c.charCodeAt(0))));

  function question(field, answers) {
    const options = [...field.querySelectorAll(".bp-option")];
    const inputs = options.map(o => o.querySelector("input"));
    const several = inputs[0].type === "checkbox";
    const [answer, again] = field.querySelectorAll("button");
    const result = field.querySelector(".bp-result");

    function clear() {
      options.forEach((option, i) => {
        option.classList.remove("yes", "no", "missed");
        const why = option.querySelector(".bp-why");
        why.classList.remove("shown");
        why.textContent = "";
        inputs[i].removeAttribute("aria-describedby");
      });
      result.textContent = "";
      result.className = "bp-result";
    }

    function explain(i, kind, word) {
      const why = options[i].querySelector(".bp-why");
      options[i].classList.add(kind);
      why.innerHTML = `<span class="bp-said">${word}</span> ${answers[i].why}`;
      why.classList.add("shown");
      inputs[i].setAttribute("aria-describedby", why.id);
      return why.innerHTML;
    }

    function judge() {
      clear();
      let said = "";
      let right = true;
      inputs.forEach((input, i) => {
        if (input.checked !== answers[i].right) right = false;
        if (!input.checked) return;
        const text = explain(i, answers[i].right ? "yes" : "no", answers[i].right ? "✓ Yes." : "✗ Not this.");
        said += ` ${text}`;
      });
      const missing = inputs.filter((input, i) => answers[i].right && !input.checked).length;
      const wrong = inputs.some((input, i) => !answers[i].right && input.checked);
      let words = right ? "Right." : "Not yet: read why, then try again.";
      if (several && !right && !wrong) words = missing === 1 ? "So far so good: one more holds." : `So far so good: ${missing} more hold.`;
      if (several && !inputs.some(input => input.checked)) words = "Choose what holds, then check.";
      else if (!inputs.some(input => input.checked)) words = "Choose one, then check.";
      result.textContent = words;
      result.classList.add(right ? "yes" : "no");
      field.querySelector(".bp-live").innerHTML = `${words}${said}`;
      again.hidden = false;
    }

    // A click on one of several circles answers at once. Arrow keys only move the choice (passing an option must not
    // give it away): Enter or the button answers. Where several may hold, the whole set is answered by the button.
    let byArrow = false;
    inputs.forEach(input => {
      onKey.set(input, key => {
        byArrow = key.startsWith("Arrow");
        if (key === "Enter") judge();
      });
      input.addEventListener("pointerdown", () => (byArrow = false));
      input.addEventListener("change", () => {
        if (several || byArrow) clear();
        else judge();
        byArrow = false;
      });
    });
    answer.addEventListener("click", judge);
    again.addEventListener("click", () => {
      inputs.forEach(input => (input.checked = false));
      clear();
      field.querySelector(".bp-live").textContent = "";
      again.hidden = true;
      inputs[0].focus();
    });
  }

  for (const quiz of document.querySelectorAll(".bp-quiz:not([data-ready])")) {
    quiz.dataset.ready = "";
    // A notebook would take these keys as commands, and Notebook 7 does so before they come down to this element.
    const keep = event => {
      if (!quiz.contains(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
      event.stopPropagation();
      onKey.get(event.target)?.(event.key);
    };
    window.addEventListener("keydown", keep, true);
    const answers = decode(quiz.dataset.answers);
    quiz.querySelectorAll("fieldset").forEach((field, i) => question(field, answers[i]));
  }
})();
