// Plays a pass in the output cell, backward or in forward mode. Everything it shows stands in data-steps; it needs no kernel, no network.
(() => {
  const PAUSE = 1700; // milliseconds a step while playing
  const FLIGHT = 520; // milliseconds that a message travels
  const PLAY = "M7 4l13 8-13 8z";
  const STOP = "M7 5h3v14H7zM14 5h3v14h-3z";

  // What a wrong prediction may have been, tried in order: the first that fits speaks.
  const MIX_UPS = [
    [ask => -ask.value, () => "The right size with the wrong sign."],
    [ask => (ask.first ? NaN : ask.sum), (ask, { sent }) => `That is the sum, with the ${sent} added. The ${sent} alone is asked for.`],
    [ask => ask.slope, (ask, { carried }) => `That is the slope alone. It still has to be multiplied by the ${carried} of ${ask.sender}.`],
    [ask => ask.carried, (ask, { carried }) => `That is the ${carried} of ${ask.sender}. It still has to be multiplied by the slope of the edge.`],
    [ask => ask.carried + ask.slope, (ask, { carried }) => `The ${carried} and the slope are multiplied along an edge, not added.`],
    [() => true, (ask, { carried, sent }) => `The ${sent} is the ${carried} of ${ask.sender} times the slope of the edge.`],
  ];
  const near = (x, y) => Math.abs(x - y) <= Math.max(0.01 * Math.abs(y), 6e-4);

  function start(root) {
    const steps = JSON.parse(root.dataset.steps);
    const last = steps.length - 1;
    const forward = root.classList.contains("forward"); // messages run with the edges, not against them
    const seed = steps.findIndex(step => step.kind === "seed");
    const turn = seed < 0 ? steps.length : seed; // where the reverse pass begins
    const nodes = [...root.querySelectorAll("[data-node]")];
    const wires = [...root.querySelectorAll("g.edge")];
    const edge = k => root.querySelectorAll(`[data-edge="${k}"]`); // its wire, and its message
    const mark = (k, ...words) => edge(k).forEach(part => part.classList.add(...words));
    const one = (inside, selector) => inside.querySelector(selector);
    const shown = nodes.map(node => ({ data: one(node, ".data").textContent, awaited: one(node, ".inbox")?.textContent ?? "" }));
    const [caption, live, ask, slider, count] = [".bp-caption", ".bp-live", ".bp-ask", "input[type=range]", ".bp-count"].map(s => one(root, s));
    const phases = root.querySelectorAll(".bp-phases span");
    const button = Object.fromEntries([...root.querySelectorAll("[data-do]")].map(b => [b.dataset.do, b]));
    const toggle = one(root, ".bp-toggle");
    const words = root.dataset; // what is "carried" and what is "sent"
    const reduced = matchMedia("(prefers-reduced-motion: reduce)");
    const still = () => reduced.matches || document.body.classList.contains("vscode-reduce-motion");
    const answered = new Set();
    let predicting = "predict" in root.dataset;
    let at = 0;
    let timer = null;

    const computed = new Set(steps.filter(step => step.kind === "value").map(step => step.node));
    const empty = text => (text.includes("/") ? text.replace(/^\d+/, "0") : "○".repeat(text.length));
    const halt = () => (predicting ? steps.findIndex((step, k) => step.ask && !answered.has(k)) : -1); // the first question still open
    const reach = () => { const k = halt(); return k < 0 ? last : k; };

    function draw() {
      const open = at === halt();
      nodes.forEach((node, i) => {
        node.classList.remove("now", "gets", "full");
        node.classList.toggle("later", computed.has(i));
        one(node, ".data").textContent = computed.has(i) ? "" : shown[i].data;
        one(node, ".grad").textContent = "";
        if (shown[i].awaited) one(node, ".inbox").textContent = empty(shown[i].awaited);
      });
      root.querySelectorAll("[data-edge]").forEach(part => part.classList.remove("sent", "now", "flows", "asked"));
      steps.slice(0, at + 1).forEach((step, k) => {
        const now = k === at;
        const node = nodes[step.node];
        for (const [i, tangent] of Object.entries(step.given ?? {})) {
          one(nodes[i], ".grad").textContent = tangent;
          nodes[i].classList.add("full");
        }
        if (step.kind === "value") {
          node.classList.remove("later");
          one(node, ".data").textContent = shown[step.node].data;
          if (now) {
            node.classList.add("now");
            step.edges.forEach(k => mark(k, "flows"));
          }
        } else if (step.kind === "seed") {
          one(node, ".grad").textContent = "1";
          node.classList.add("full");
          if (now) node.classList.add("now");
        } else if (step.kind === "message") {
          const target = nodes[step.to];
          if (now) node.classList.add("now");
          if (now && open) {
            mark(step.edge, "asked");
            return;
          }
          mark(step.edge, "sent");
          one(target, ".grad").textContent = step.sum;
          one(target, ".inbox").textContent = step.dots;
          if (step.done) target.classList.add("full");
          if (now) {
            mark(step.edge, "now");
            target.classList.add("gets");
          }
        }
      });
      const step = steps[at];
      const told = open ? step.ask : step;
      caption.innerHTML = told.say;
      question(open ? step : null);
      slider.value = at;
      slider.setAttribute("aria-valuetext", `${at} of ${last}, ${at < turn ? "forward" : "reverse"} pass`);
      count.textContent = `${at} / ${last}`;
      phases[0].classList.toggle("on", at < turn);
      phases[1]?.classList.toggle("on", at >= turn);
      // Not `disabled`: a button that goes dead under the reader's finger would lose the keyboard's focus.
      const off = { first: at === 0, back: at === 0, next: at === last || open, last: at === last || open, play: open };
      for (const [name, b] of Object.entries(button)) b.setAttribute("aria-disabled", off[name]);
      toggle?.setAttribute("aria-pressed", predicting);
      return told;
    }

    function go(to, { fly = true } = {}) {
      const before = at;
      at = Math.max(0, Math.min(to, reach()));
      live.textContent = draw().aloud;
      follow();
      if (at === halt()) one(ask, "input").focus();
      if (fly && at === before + 1 && steps[at].kind === "message" && at !== halt()) travel(steps[at].edge);
      if (at === last || at === halt()) stop();
    }

    // Keep what happens in sight where the graph is larger than its window, without moving the page.
    function follow() {
      const stage = one(root, ".bp-stage");
      const step = steps[at];
      const node = nodes[step.to ?? step.node];
      if (!node || (stage.scrollHeight <= stage.clientHeight && stage.scrollWidth <= stage.clientWidth)) return;
      const [inner, outer] = [node.getBoundingClientRect(), stage.getBoundingClientRect()];
      const past = (from, to, low, high) => (from < low ? from - low : to > high ? to - high : 0);
      stage.scrollBy({
        left: past(inner.left - 20, inner.right + 20, outer.left, outer.right),
        top: past(inner.top - 20, inner.bottom + 20, outer.top, outer.bottom),
        behavior: still() ? "auto" : "smooth",
      });
    }

    // A dot runs along the edge, from the node that sends to the node that receives.
    function travel(k) {
      if (still()) return;
      const wire = one(wires[k], ".wire");
      const dot = document.createElementNS("http://www.w3.org/2000/svg", "circle");
      dot.setAttribute("r", 6);
      dot.setAttribute("class", "pulse");
      wire.ownerSVGElement.append(dot);
      const length = wire.getTotalLength();
      const began = performance.now();
      const frame = now => {
        const share = Math.min(1, (now - began) / FLIGHT);
        const gone = share * share * (3 - 2 * share);
        const point = wire.getPointAtLength(length * (forward ? gone : 1 - gone));
        dot.setAttribute("cx", point.x);
        dot.setAttribute("cy", point.y);
        if (share < 1 && dot.isConnected) requestAnimationFrame(frame);
        else dot.remove();
      };
      requestAnimationFrame(frame);
    }

    function question(step) {
      ask.hidden = !step;
      ask.textContent = "";
      if (!step) return;
      const form = document.createElement("form");
      form.innerHTML = `<label>${words.sent[0].toUpperCase()}${words.sent.slice(1)} <input type="text" inputmode="decimal" autocomplete="off" spellcheck="false"></label>
        <button type="submit" class="bp-main">Check</button><button type="button">Show me</button>`;
      const tell = document.createElement("p");
      tell.className = "bp-tell no";
      tell.setAttribute("role", "status");
      ask.append(form, tell);
      const input = one(form, "input");
      let tries = 0;
      const reveal = word => {
        answered.add(at);
        go(at);
        travel(step.edge);
        caption.insertAdjacentHTML("afterbegin", `<p class="bp-tell yes">${word}</p>`);
        live.textContent = `${word} ${step.aloud}`;
        button.next.focus();
      };
      form.addEventListener("submit", event => {
        event.preventDefault();
        const x = Number(input.value.trim().replace(/[−–]/g, "-").replace(",", "."));
        if (!input.value.trim() || Number.isNaN(x)) tell.textContent = "Enter a number, such as −0.25.";
        else if (near(x, step.ask.value)) reveal("✓ Right.");
        else {
          tries += 1;
          const [, told] = MIX_UPS.find(([of]) => of(step.ask) === true || near(x, of(step.ask)));
          tell.textContent = `✗ Not yet. ${told(step.ask, words)}${tries > 1 ? ` ${step.ask.hint}` : ""}`;
          input.select();
        }
      });
      one(form, "button[type=button]").addEventListener("click", () => reveal("Shown."));
    }

    function stop() {
      clearInterval(timer);
      timer = null;
      face("Play", PLAY);
    }

    function face(label, path) {
      button.play.setAttribute("aria-label", label);
      button.play.title = label;
      one(button.play, "path").setAttribute("d", path);
    }

    function play() {
      if (timer) return stop();
      if (at === last) go(0);
      face("Pause", STOP);
      timer = setInterval(() => (root.isConnected ? go(at + 1) : stop()), PAUSE);
      go(at + 1);
    }

    const acts = { first: () => go(0), back: () => go(at - 1), next: () => go(at + 1), last: () => go(last), play };
    for (const [name, b] of Object.entries(button))
      b.addEventListener("click", () => {
        if (name !== "play") stop();
        acts[name]();
      });
    // Switched on half-way, what has been shown counts as answered; at the end the pass begins anew.
    toggle?.addEventListener("click", () => {
      stop();
      predicting = !predicting;
      answered.clear();
      if (predicting && at === last) at = 0;
      for (let k = 0; predicting && k <= at; k++) answered.add(k);
      go(at);
    });
    slider.addEventListener("input", () => {
      stop();
      go(Number(slider.value));
    });

    const keys = { ArrowRight: "next", ArrowLeft: "back", ArrowDown: "next", ArrowUp: "back", Home: "first", End: "last", " ": "play" };
    // A notebook would take these keys as commands, and Notebook 7 does so before they come down to this element.
    const onKey = event => {
      if (!root.contains(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
      event.stopPropagation();
      const name = keys[event.key];
      const own = event.target.closest("input, summary") || (event.key === " " && event.target.closest("button"));
      if (!name || own) return;
      event.preventDefault();
      if (name !== "play") stop();
      acts[name]();
    };
    window.addEventListener("keydown", onKey, true);

    draw();
  }

  for (const root of document.querySelectorAll(".bp-stepper:not([data-ready])")) {
    root.dataset.ready = "";
    start(root);
  }
})();
