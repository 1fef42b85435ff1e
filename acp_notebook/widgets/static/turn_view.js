// The page's half of a turn: it stores and places blocks of HTML that the kernel made safe, and
// sends back which button was pressed. It knows nothing of agents.
//
// An entry is a block in the list; a slot is a named place, `data-slot`. Messages are numbered:
// after a gap, and at the beginning, the page asks for everything.

const RETRY_MS = 1500;
const RETRIES = 8;
const NEAR_PX = 80;
const GROUP_SIZE = 24;
const QUIET_MS = 200;
const COPIED_MS = 1500;
const BADGE = "(?) ";
const VIEW_MIME = "application/vnd.jupyter.widget-view+json";

class TurnPage {
  constructor(model, root) {
    this.model = model;
    this.root = root;
    this.id = Math.random().toString(36).slice(2);
    this.seen = null;
    this.clock = null; // what the kernel's clock says at this page's zero
    this.retries = 0;
    this.blocks = new Map();
    this.sources = new Map(); // what HTML each was made of
    this.slots = new Map();
    this.unfinished = new Set();
    this.drafts = new Map(); // what was typed into a form, for when everything is drawn anew
    root.classList.add("acp");
    root.innerHTML =
      '<div class="acp-head"><div class="acp-who" data-slot="head"></div>' +
      '<div class="acp-now" data-slot="now"></div></div><div class="acp-more">' +
      '<div class="acp-facts" data-slot="usage"></div><div class="acp-controls" ' +
      'data-slot="controls"></div></div><div class="acp-earlier" data-slot="earlier"></div>' +
      '<div class="acp-entries"></div><div class="acp-foot"><span data-slot="foot"></span></div>' +
      '<div class="acp-say" role="status" aria-live="polite"></div>';
    this.entries = root.querySelector(".acp-entries");
    this.voice = root.querySelector(".acp-say");
    this.onMessage = (message) => this.receive(message);
    this.onSight = () => this.seenAgain();
    model.on("msg:custom", this.onMessage);
    document.addEventListener("visibilitychange", this.onSight);
    // These go with the element.
    root.addEventListener("click", (event) => this.click(event));
    root.addEventListener("keydown", (event) => this.key(event));
    root.addEventListener("submit", (event) => this.submit(event));
    root.addEventListener("input", (event) => this.keepDraft(event.target.form));
    root.addEventListener("toggle", (event) => this.finishSoon(event.target), true);
    root.addEventListener("change", (event) => this.choose(event.target));
    this.ticker = setInterval(() => this.tick(), 1000);
    this.sync();
    if (document.hidden) this.hide();
  }

  close() {
    this.model.off("msg:custom", this.onMessage);
    document.removeEventListener("visibilitychange", this.onSight);
    clearInterval(this.ticker);
    clearTimeout(this.retry);
    clearTimeout(this.finishing);
    this.setBadge(false);
    // At the end the record takes the view's place; until a page says so, its model is kept.
    if (this.isOver) this.sayPlaced();
  }

  sayPlaced() {
    if (!this.isPlaced) this.model.send({ t: "settled" });
    this.isPlaced = true;
  }

  // Messages

  sync() {
    this.seen = null;
    this.model.send({ t: "sync", page: this.id });
    clearTimeout(this.retry);
    if (this.retries++ < RETRIES) {
      this.retry = setTimeout(() => this.seen === null && this.sync(), RETRY_MS);
    }
  }

  receive(message) {
    if (message?.record) return this.settle(message);
    if (!message || !Array.isArray(message.ops)) return;
    this.isOver = message.over;
    this.setBadge(message.asks);
    if (document.hidden) {
      // Nobody looks: what is missed now is asked for when somebody does.
      clearTimeout(this.retry);
      message.ops.filter(({ op }) => op === "say").forEach((op) => this.say(op));
      return;
    }
    if (message.whole) {
      if (this.seen === message.n) return; // another view asked; this one is up to date
    } else {
      if (this.seen === null || message.n <= this.seen) return;
      if (message.n !== this.seen + 1) return this.sync();
    }
    this.seen = message.n;
    this.retries = 0;
    this.clock = message.now - performance.now() / 1000;
    this.keepPlace(() => message.ops.forEach((op) => this.perform(op)));
    this.tick();
  }

  // A page that was loaded anew does not know which output the kernel's update means, and would
  // save the view; it finds the output by its model.
  settle({ model, record }) {
    for (const { outputs } of this.model.widget_manager?.context?.model?.cells ?? []) {
      for (let i = 0; i < (outputs?.length ?? 0); i++) {
        if (outputs.get(i).data[VIEW_MIME]?.model_id !== model) continue;
        outputs.set(i, { output_type: "display_data", data: record, metadata: {} });
        this.sayPlaced();
      }
    }
  }

  perform(op) {
    if (op.op === "clear") this.clear();
    else if (op.op === "put") this.put(op);
    else if (op.op === "del") this.remove(op.id);
    else if (op.op === "say") this.say(op);
    else if (op.op === "set") this.set(op);
    else if (op.op === "wrong") this.showWrong(op);
    else if (op.op === "add") this.add(op);
  }

  clear() {
    this.entries.replaceChildren();
    this.blocks.clear();
    this.sources.clear();
    this.slots.clear();
  }

  remove(id) {
    this.blocks.get(id)?.remove();
    this.blocks.delete(id);
    this.sources.delete(id);
  }

  put(op) {
    let entry = this.entry(op.id);
    if (!entry) {
      entry = document.createElement("section");
      entry.dataset.entry = op.id;
      entry.className = `acp-entry acp-is-${op.kind}`;
      this.entries.append(entry);
      this.blocks.set(op.id, entry);
    }
    // Of a long entry only what is new comes, between what the page has of its ends.
    const had = this.sources.get(op.id);
    const [start, end] = op.keep ?? [];
    const html = op.keep ? had.slice(0, start) + op.html + had.slice(had.length - end) : op.html;
    this.sources.set(op.id, html);
    this.replace(entry, html, true);
    // Keys in a question are answers here, not the notebook's shortcuts, which look at what has
    // the focus before they look for this mark above it.
    for (const card of entry.querySelectorAll("[data-keys], form")) {
      for (const part of [card, ...card.querySelectorAll("input, select, button, a, summary")]) {
        part.dataset.lmSuppressShortcuts = "";
      }
    }
    this.fillFromDraft(entry.querySelector("form[data-form]"));
    entry.querySelectorAll("[data-path]").forEach((place) => this.link(place));
    this.finishSoon(entry);
  }

  set(op) {
    const slot = this.slot(op.slot);
    if (!slot) return;
    this.replace(slot, op.html, false);
    if (slot.classList.contains("acp-done")) this.group(slot);
    this.followTerminal(slot);
  }

  add(op) {
    const slot = this.slot(op.slot);
    if (!slot) return;
    slot.insertAdjacentHTML("beforeend", op.html);
    if (slot.classList.contains("acp-done")) this.group(slot);
    while (op.keep && slot.childElementCount > op.keep) slot.firstElementChild.remove();
    this.followTerminal(slot);
  }

  // Finished blocks in groups, of which the browser lays out and paints only the last anew.
  group(slot) {
    let group = slot.lastElementChild;
    while (group && !group.matches(".acp-group")) group = group.previousElementSibling;
    for (let block = group ? group.nextSibling : slot.firstChild; block; ) {
      const next = block.nextSibling;
      if (!group || group.childElementCount >= GROUP_SIZE) {
        group = document.createElement("div");
        group.className = "acp-group";
        slot.insertBefore(group, block);
      }
      group.append(block);
      this.finishSoon(group);
      block = next;
    }
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
    return this.blocks.get(id);
  }

  slot(name) {
    let slot = this.slots.get(name);
    if (!slot || !this.root.contains(slot)) {
      slot = this.root.querySelector(`[data-slot="${CSS.escape(name)}"]`);
      this.slots.set(name, slot);
    }
    return slot;
  }

  // What can wait until the page is quiet: buttons to copy, keys to scroll.

  finishSoon(place) {
    this.unfinished.add(place);
    this.finishing ??= setTimeout(() => {
      this.finishing = null;
      for (const changed of this.unfinished) this.finish(changed);
      this.unfinished.clear();
    }, QUIET_MS);
  }

  finish(place) {
    for (const code of place.querySelectorAll(".highlight, .acp-copyable")) {
      if (!code.querySelector(":scope > .acp-copy")) code.append(copyButton(code));
    }
    const boxes = [...place.querySelectorAll("pre, .acp-table, .acp-diff, .acp-term")];
    const scrolled = boxes.map(
      (box) => box.scrollHeight > box.clientHeight + 1 || box.scrollWidth > box.clientWidth + 1,
    );
    boxes.forEach((box, number) => {
      if (scrolled[number]) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    });
  }

  // A file that the server has opens in the notebook's own application.
  link(place) {
    const { rendermime, context } = this.model.widget_manager ?? {};
    const path = context && resolvePath(context.localPath ?? context.path, place.dataset.path);
    if (!path || !rendermime?.linkHandler) return;
    const link = document.createElement("a");
    link.href = "#";
    link.className = place.className;
    link.textContent = place.textContent;
    link.title = `Open ${path}`;
    const { line } = place.dataset;
    rendermime.linkHandler.handleLink(link, path, line ? `#line=${line - 1}` : "");
    link.addEventListener("click", (event) => event.preventDefault());
    place.replaceWith(link);
  }

  // Those who listen, and those who look elsewhere

  say(op) {
    this.voice.textContent = op.text;
    if (!op.ask || !document.hidden) return;
    if (globalThis.Notification?.permission === "granted") {
      new Notification("Jupyter", { body: op.text, tag: "acp" });
    }
  }

  // The title of a hidden tab says that something waits, whenever it was asked.
  setBadge(asks) {
    this.asks = asks;
    const title = document.title.replace(BADGE, "");
    document.title = asks && document.hidden ? BADGE + title : title;
  }

  seenAgain() {
    this.setBadge(this.asks);
    if (document.hidden) return this.hide();
    this.retries = 0;
    this.sync();
  }

  hide() {
    this.model.send({ t: "hidden", page: this.id });
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
    if (this.root.contains(this.framed) || !this.framed?.contains(this.root)) this.framed = null;
    for (let node = this.root.parentElement; node && !this.framed; node = node.parentElement) {
      const style = getComputedStyle(node).overflowY;
      if (/auto|scroll/.test(style) && node.scrollHeight > node.clientHeight + 1) this.framed = node;
    }
    return this.framed;
  }

  followTerminal(slot) {
    const terminal = slot.closest(".acp-term");
    if (!terminal) return;
    const rest = terminal.scrollHeight - terminal.scrollTop - terminal.clientHeight;
    if (terminal.scrollTop === 0 || rest < NEAR_PX) terminal.scrollTop = terminal.scrollHeight;
  }

  // Time

  tick() {
    if (this.asks) this.setBadge(true); // the application writes its title anew now and then
    if (this.clock === null || document.hidden) return;
    const now = this.clock + performance.now() / 1000;
    for (const clock of this.root.querySelectorAll("[data-since]")) {
      const seconds = Math.max(0, Math.floor(now - clock.dataset.since));
      const minutes = Math.floor(seconds / 60);
      const rest = String(seconds % 60).padStart(2, "0");
      const words = minutes ? `${minutes} min ${rest} s` : seconds ? `${seconds} s` : "";
      if (clock.textContent !== words) clock.textContent = words;
    }
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
    if (act === "stop" || act === "earlier") return; // pressed again it means more
    const card = button.closest("[data-keys]") ?? button.parentElement;
    card.setAttribute("aria-busy", "true");
    for (const other of card.querySelectorAll("button")) other.disabled = true;
    button.classList.add("acp-pressed");
  }

  choose(select) {
    const { act, id } = select.dataset;
    if (act !== "option") return;
    this.model.send({ t: "act", act, id, value: select.value });
    select.disabled = true; // until the agent has answered
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

function copyButton(code) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "acp-button acp-copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    const lines = [...code.querySelectorAll(".acp-diff-line")];
    const text = lines.length
      ? lines.map((line) => line.textContent).join("\n")
      : code.querySelector("pre").textContent;
    button.textContent = (await copy(text)) ? "Copied" : "Not copied";
    setTimeout(() => (button.textContent = "Copy"), COPIED_MS);
  });
  return button;
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // A server reached by plain http has no clipboard.
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    const isDone = document.execCommand("copy");
    area.remove();
    return isDone;
  }
}

// The server's path of what the notebook's folder calls `relative`; null if it is outside.
function resolvePath(notebook, relative) {
  const parts = notebook.split("/").slice(0, -1);
  for (const part of relative.split("/")) {
    if (part === "..") {
      if (!parts.length) return null;
      parts.pop();
    } else if (part && part !== ".") parts.push(part);
  }
  return parts.join("/");
}

export default {
  render({ model, el }) {
    const page = new TurnPage(model, el);
    return () => page.close();
  },
};
