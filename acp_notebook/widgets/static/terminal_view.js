/** The page's half of a terminal one can type into. The kernel draws the screen; this sends keys. */

import { takeKey } from './answering.js';
import { all, makeButton, one } from './elements.js';
import { Request } from './messages.js';
import { terminalKeys } from './terminal_keys.js';

/** @type {[string, string, string?][]} */
const BUTTONS = [
  ['Enter', '\r'],
  ['Ctrl-C', '\x03'],
  ['Ctrl-D', '\x04'],
  ['Tab', '\t'],
  ['Esc', '\x1b'],
  ['↑', '\x1b[A', 'Up'],
  ['↓', '\x1b[B', 'Down']
];
const LAYOUT =
  '<div class="acp-tty-title"></div><pre class="acp-tty-screen" tabindex="0" role="log"></pre>' +
  '<div class="acp-tty-line"><label>Type <input autocomplete="off" autocapitalize="off"' +
  ' spellcheck="false" data-1p-ignore></label></div><div class="acp-tty-keys"></div>';

class TerminalPage {
  #model;
  #title;
  #screen;
  /** @type {HTMLInputElement} */
  #input;
  #request;
  #hasScreen = false;

  /**
   * @param {import('./messages.js').Model} model
   * @param {HTMLElement} root
   */
  constructor(model, root) {
    root.classList.add('acp', 'acp-tty');
    root.innerHTML = LAYOUT;
    this.#model = model;
    this.#title = one(root, '.acp-tty-title');
    this.#screen = one(root, '.acp-tty-screen');
    this.#input = one(root, 'input');
    one(root, '.acp-tty-keys').append(...BUTTONS.map(button => this.#makeButton(...button)));
    this.#input.addEventListener('keydown', event => this.#key(event, this.#input.value === ''));
    this.#screen.addEventListener('keydown', event => this.#key(event, true));
    // The notebook's shortcuts look at what has the focus first.
    for (const part of all(root, '*')) part.dataset.lmSuppressShortcuts = '';
    model.on('msg:custom', this.#onMessage);
    this.#request = new Request(() => model.send({ t: 'sync' }));
    this.#request.send();
  }

  close() {
    this.#model.off('msg:custom', this.#onMessage);
    this.#request.stop();
  }

  /**
   * @param {string} words
   * @param {string} keys
   * @param {string} [name]
   */
  #makeButton(words, keys, name) {
    const button = makeButton(words, 'acp-quiet');
    if (name) button.ariaLabel = name;
    button.addEventListener('click', () => (words === 'Enter' ? this.#enter() : this.#type(keys)));
    return button;
  }

  /** @param {any} message */
  #onMessage = message => {
    if (typeof message?.screen !== 'string') return;
    this.#request.settle();
    this.#title.textContent = message.title;
    this.#screen.setAttribute('aria-label', message.title);
    this.#screen.innerHTML = message.screen;
    this.#screen.scrollTop = this.#screen.scrollHeight;
    this.#input.type = message.hidden ? 'password' : 'text';
    if (!this.#hasScreen) this.#input.focus({ preventScroll: true });
    this.#hasScreen = true;
  };

  /** @param {string} keys */
  #type(keys) {
    this.#model.send({ t: 'type', keys });
    this.#input.focus({ preventScroll: true });
  }

  #enter() {
    this.#type(`${this.#input.value}\r`);
    this.#input.value = '';
  }

  /**
   * @param {KeyboardEvent} event
   * @param {boolean} isFree
   */
  #key(event, isFree) {
    const isLine = event.target === this.#input;
    if (event.key === 'Enter' && isLine && !event.isComposing) {
      takeKey(event);
      this.#enter();
      return;
    }
    const keys = event.key === 'Enter' && !isLine ? '\r' : terminalKeys(event, isFree);
    if (keys === undefined) return;
    takeKey(event);
    this.#type(keys);
  }
}

export default {
  // A model that is closed before the page has loaded it leaves an error in the page.
  /** @param {{model: import('./messages.js').Model}} context */
  initialize({ model }) {
    model.send({ t: 'loaded' });
  },

  /** @param {{model: import('./messages.js').Model, el: HTMLElement}} context */
  render({ model, el }) {
    const page = new TerminalPage(model, el);
    return () => page.close();
  }
};
