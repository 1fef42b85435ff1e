// The page's half of a turn: it stores and places blocks of HTML that the kernel made safe, and
// sends back which button was pressed. It knows nothing of agents.
//
// An entry is a block in the list; a slot is a named place, `data-slot`. Messages are numbered:
// after a gap, and at the beginning, the page asks for everything.

const RETRY_MS = 1500;
const RETRIES = 8;
const NEAR_PX = 80;

class TurnPage {
  constructor(model, root) {
    this.model = model;
    this.root = root;
    this.seen = null;
    this.beganAt = null;
    this.retries = 0;
    root.classList.add("acp");
    root.innerHTML =
      '<div class="acp-head" data-slot="head"></div><div class="acp-entries"></div>' +
      '<div class="acp-foot"><span data-slot="foot"></span></div>' +
      '<div class="acp-say" role="status" aria-live="polite"></div>';
    [this.head, this.entries, this.foot, this.voice] = root.children;
    this.onMessage = (message) => this.receive(message);
    this.onClick = (event) => this.click(event);
    this.onKey = (event) => this.key(event);
    this.onSubmit = (event) => this.submit(event);
    this.onInput = (event) => this.keepDraft(event.target.form);
    this.drafts = new Map(); // what was typed into a form, for when everything is drawn anew
    model.on("msg:custom", this.onMessage);
    root.addEventListener("click", this.onClick);
    root.addEventListener("keydown", this.onKey);
    root.addEventListener("submit", this.onSubmit);
    root.addEventListener("input", this.onInput);
    this.ticker = setInterval(() => this.tick(), 1000);
    this.watcher = new IntersectionObserver(([entry]) => {
      root.classList.toggle("acp-far", !entry.isIntersecting);
    });
    this.watcher.observe(this.head);
    this.sync();
  }

  close() {
    this.model.off("msg:custom", this.onMessage);
    this.root.removeEventListener("click", this.onClick);
    this.root.removeEventListener("keydown", this.onKey);
    this.root.removeEventListener("submit", this.onSubmit);
    this.root.removeEventListener("input", this.onInput);
    clearInterval(this.ticker);
    clearTimeout(this.retry);
    this.watcher.disconnect();
  }

  // Messages

  sync() {
    this.seen = null;
    this.model.send({ t: "sync" });
    clearTimeout(this.retry);
    if (this.retries++ < RETRIES) {
      this.retry = setTimeout(() => this.seen === null && this.sync(), RETRY_MS);
    }
  }

  receive(message) {
    if (!message || !Array.isArray(message.ops)) return;
    if (message.whole) {
      if (this.seen === message.n) return; // another view asked; this one is up to date
    } else {
      if (this.seen === null || message.n <= this.seen) return;
      if (message.n !== this.seen + 1) return this.sync();
    }
    this.seen = message.n;
    this.retries = 0;
    this.beganAt = performance.now() - 1000 * message.s;
    this.keepPlace(() => message.ops.forEach((op) => this.perform(op)));
    this.tick();
  }

  perform(op) {
    if (op.op === "clear") this.entries.replaceChildren();
    else if (op.op === "put") this.put(op);
    else if (op.op === "del") this.entry(op.id)?.remove();
    else if (op.op === "say") this.voice.textContent = op.text;
    else if (op.op === "set") this.set(op);
    else if (op.op === "wrong") this.showWrong(op);
    else if (op.op === "add") this.add(op);
  }

  put(op) {
    let entry = this.entry(op.id);
    if (!entry) {
      entry = document.createElement("section");
      entry.dataset.entry = op.id;
      entry.className = `acp-entry acp-is-${op.kind}`;
      this.entries.append(entry);
    }
    this.replace(entry, op.html, true);
    // Keys in a question are answers here, not the notebook's shortcuts, which look at what has
    // the focus before they look for this mark above it.
    for (const card of entry.querySelectorAll("[data-keys], form")) {
      for (const part of [card, ...card.querySelectorAll("input, select, button, a, summary")]) {
        part.dataset.lmSuppressShortcuts = "";
      }
    }
    this.fillFromDraft(entry.querySelector("form[data-form]"));
  }

  set(op) {
    const slot = this.slot(op.slot);
    if (!slot) return;
    this.replace(slot, op.html, false);
    this.followTerminal(slot);
  }

  add(op) {
    const slot = this.slot(op.slot);
    if (!slot) return;
    slot.insertAdjacentHTML("beforeend", op.html);
    while (op.keep && slot.childElementCount > op.keep) slot.firstElementChild.remove();
    this.followTerminal(slot);
  }

  // New HTML in an old place: slots keep their content, `<details>` stay as the reader left them,
  // and the focus returns to what has the same key.
  replace(place, html, keepSlots) {
    const focused = place.contains(document.activeElement) && document.activeElement.dataset.key;
    const folds = new Map();
    for (const fold of place.querySelectorAll("details[data-touched]")) {
      folds.set(fold.dataset.key, fold.open);
    }
    const slots = new Map();
    if (keepSlots) {
      for (const slot of place.querySelectorAll("[data-slot]")) slots.set(slot.dataset.slot, slot);
    }
    place.innerHTML = html;
    for (const slot of keepSlots ? place.querySelectorAll("[data-slot]") : []) {
      const old = slots.get(slot.dataset.slot);
      if (old) slot.replaceWith(old);
    }
    for (const fold of folds.size ? place.querySelectorAll("details") : []) {
      if (!folds.has(fold.dataset.key)) continue;
      fold.open = folds.get(fold.dataset.key);
      fold.dataset.touched = "";
    }
    if (focused) {
      const again = [...place.querySelectorAll("[data-key]")].find((e) => e.dataset.key === focused);
      (again ?? place.querySelector("summary, [tabindex]"))?.focus({ preventScroll: true });
    }
  }

  entry(id) {
    return this.entries.querySelector(`:scope > [data-entry="${CSS.escape(id)}"]`);
  }

  slot(name) {
    return this.root.querySelector(`[data-slot="${CSS.escape(name)}"]`);
  }

  // Scrolling

  // A reader at the end stays at the end; any other reader stays where they are.
  keepPlace(change) {
    const frame = this.frame();
    const follows = frame && this.isAtEnd(frame);
    change();
    if (!follows) return;
    const below = this.root.getBoundingClientRect().bottom - this.bottomOf(frame);
    if (below > 0) frame.scrollTop += below + 8;
  }

  isAtEnd(frame) {
    const active = document.activeElement;
    const writesElsewhere = active?.closest(".cm-content, input, textarea");
    const end = this.root.getBoundingClientRect().bottom;
    const bottom = this.bottomOf(frame);
    return !writesElsewhere && end <= bottom + NEAR_PX && end > bottom - frame.clientHeight;
  }

  bottomOf(frame) {
    return frame.getBoundingClientRect().top + frame.clientHeight;
  }

  frame() {
    for (let node = this.root.parentElement; node; node = node.parentElement) {
      const style = getComputedStyle(node).overflowY;
      if (/auto|scroll/.test(style) && node.scrollHeight > node.clientHeight + 1) return node;
    }
    return null;
  }

  followTerminal(slot) {
    const terminal = slot.closest(".acp-term");
    if (!terminal) return;
    const rest = terminal.scrollHeight - terminal.scrollTop - terminal.clientHeight;
    if (terminal.scrollTop === 0 || rest < NEAR_PX) terminal.scrollTop = terminal.scrollHeight;
  }

  // Time

  tick() {
    if (this.beganAt === null) return;
    const seconds = Math.max(0, Math.floor((performance.now() - this.beganAt) / 1000));
    const minutes = Math.floor(seconds / 60);
    const rest = String(seconds % 60).padStart(2, "0");
    const words = minutes ? `${minutes} min ${rest} s` : `${seconds} s`;
    for (const clock of this.root.querySelectorAll("[data-clock]")) clock.textContent = words;
  }

  // The reader

  click(event) {
    const fold = event.target.closest("summary")?.parentElement;
    if (fold && !event.target.closest("a, button")) fold.dataset.touched = "";
    const button = event.target.closest("button[data-act], a[data-act]");
    if (button && !button.disabled) this.press(button);
  }

  press(button) {
    const { act, id, n } = button.dataset;
    this.model.send({ t: "act", act, id, n: n === undefined ? null : Number(n) });
    if (act === "stop") return; // pressed again it means more
    const card = button.closest("[data-keys]") ?? button.parentElement;
    card.setAttribute("aria-busy", "true");
    for (const other of card.querySelectorAll("button")) other.disabled = true;
    button.classList.add("acp-pressed");
  }

  // Forms

  controls(form) {
    return [...form.elements].filter((control) => control.name && control.type !== "fieldset");
  }

  values(form) {
    const found = {};
    for (const control of this.controls(form)) {
      const { name, type, value, checked } = control;
      if (control.dataset.many !== undefined) {
        found[name] ??= [];
        if (checked) found[name].push(value);
      } else if (type === "checkbox") found[name] = checked;
      else if (type === "radio") found[name] = checked ? value : (found[name] ?? "");
      else found[name] = control.validity.badInput ? "no number" : value;
    }
    return found;
  }

  keepDraft(form) {
    if (form?.dataset.form) this.drafts.set(form.dataset.form, this.values(form));
  }

  fillFromDraft(form) {
    const draft = form && this.drafts.get(form.dataset.form);
    if (!draft) return;
    for (const control of this.controls(form)) {
      const value = draft[control.name];
      if (control.dataset.many !== undefined) control.checked = value.includes(control.value);
      else if (control.type === "checkbox") control.checked = value;
      else if (control.type === "radio") control.checked = value === control.value;
      else control.value = value;
    }
  }

  submit(event) {
    const form = event.target;
    event.preventDefault();
    if (form.getAttribute("aria-busy") === "true") return;
    this.keepDraft(form);
    const values = this.values(form);
    this.model.send({ t: "act", act: "submit", id: form.dataset.form, values });
    form.setAttribute("aria-busy", "true");
  }

  // Words beside the fields; what was typed stays.
  showWrong(op) {
    const form = this.entry(op.id)?.querySelector("form");
    if (!form) return;
    form.removeAttribute("aria-busy");
    for (const place of form.querySelectorAll("[data-wrong]")) {
      place.textContent = op.words[place.dataset.wrong] ?? "";
    }
    let first = null;
    for (const control of this.controls(form)) {
      const words = op.words[control.name.slice(1)];
      control.setAttribute("aria-invalid", String(Boolean(words)));
      if (words) first ??= control;
    }
    first?.focus();
  }

  // On a question that has the focus: a digit chooses, Enter allows this once.
  key(event) {
    if (event.key === "Enter" && event.target.matches("form[data-form] input")) {
      // The notebook takes the key away before the browser sends the form.
      event.preventDefault();
      event.stopPropagation();
      event.target.form.requestSubmit();
      return;
    }
    const card = event.target.closest("[data-keys]");
    if (!card || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    let button = null;
    if (/^[1-9]$/.test(event.key)) {
      button = card.querySelectorAll("button[data-act]")[Number(event.key) - 1];
    } else if (event.key === "Enter" && event.target === card) {
      button = card.querySelector("button[data-primary]");
    }
    if (!button || button.disabled) return;
    event.preventDefault();
    event.stopPropagation(); // the notebook has its own meaning for these keys
    this.press(button);
  }
}

export default {
  render({ model, el }) {
    const page = new TurnPage(model, el);
    return () => page.close();
  },
};
