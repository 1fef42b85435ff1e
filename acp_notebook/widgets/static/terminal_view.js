// The page's half of a terminal one can type into. The kernel draws the screen; this sends keys.

const KEYS = {
  ArrowUp: "\x1b[A",
  ArrowDown: "\x1b[B",
  ArrowRight: "\x1b[C",
  ArrowLeft: "\x1b[D",
  Escape: "\x1b",
  Backspace: "\x7f",
};
const BUTTONS = [
  ["Enter", "\r"],
  ["Ctrl-C", "\x03"],
  ["Ctrl-D", "\x04"],
  ["Tab", "\t"],
  ["Esc", "\x1b"],
  ["↑", "\x1b[A", "Up"],
  ["↓", "\x1b[B", "Down"],
];
const RETRY_MS = 1500;
const RETRIES = 8;

class TerminalPage {
  constructor(model, root) {
    this.model = model;
    this.retries = 0;
    root.classList.add("acp", "acp-tty");
    root.innerHTML =
      '<div class="acp-tty-title"></div><pre class="acp-tty-screen" tabindex="0" role="log"></pre>' +
      '<div class="acp-tty-line"><label>Type <input autocomplete="off" autocapitalize="off"' +
      ' spellcheck="false" data-1p-ignore></label></div><div class="acp-tty-keys"></div>';
    [this.title, this.screen, , this.buttons] = root.children;
    this.input = root.querySelector("input");
    for (const [words, keys, name] of BUTTONS) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "acp-button acp-quiet";
      button.textContent = words;
      if (name) button.ariaLabel = name;
      button.addEventListener("click", () => (words === "Enter" ? this.enter() : this.type(keys)));
      this.buttons.append(button);
    }
    this.input.addEventListener("keydown", (event) => this.key(event, this.input.value === ""));
    this.screen.addEventListener("keydown", (event) => this.key(event, true));
    // The notebook's shortcuts look at what has the focus first.
    for (const part of root.querySelectorAll("*")) part.dataset.lmSuppressShortcuts = "";
    this.onMessage = (message) => this.receive(message);
    model.on("msg:custom", this.onMessage);
    this.sync();
  }

  close() {
    this.model.off("msg:custom", this.onMessage);
    clearTimeout(this.retry);
  }

  sync() {
    this.model.send({ t: "sync" });
    if (this.retries++ < RETRIES) this.retry = setTimeout(() => this.sync(), RETRY_MS);
  }

  receive(message) {
    if (typeof message?.screen !== "string") return;
    if (this.retry) clearTimeout(this.retry);
    const isFirst = this.retries !== Infinity;
    this.retries = Infinity;
    this.title.textContent = message.title;
    this.screen.setAttribute("aria-label", message.title);
    this.screen.innerHTML = message.screen;
    this.screen.scrollTop = this.screen.scrollHeight;
    this.input.type = message.hidden ? "password" : "text";
    if (isFirst) this.input.focus({ preventScroll: true });
  }

  type(keys) {
    this.model.send({ t: "type", keys });
    this.input.focus({ preventScroll: true });
  }

  enter() {
    this.type(`${this.input.value}\r`);
    this.input.value = "";
  }

  // Tab stays with the page, so that nobody is caught here.
  key(event, isFree) {
    const { key } = event;
    if (key === "Enter" && event.target === this.input && !event.isComposing) {
      event.preventDefault();
      event.stopPropagation();
      this.enter();
      return;
    }
    let keys = isFree && !event.altKey && !event.metaKey ? KEYS[key] : undefined;
    if (event.ctrlKey && /^[a-z]$/i.test(key)) {
      const isCopy = String(getSelection()) && key === "c";
      keys = /^[cdz]$/i.test(key) && !isCopy ? String.fromCharCode(key.toUpperCase().charCodeAt(0) - 64) : undefined;
    } else if (event.target === this.screen && key === "Enter") keys = "\r";
    if (keys === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    this.type(keys);
  }
}

export default {
  render({ model, el }) {
    const page = new TerminalPage(model, el);
    return () => page.close();
  },
};
