/** What the reader presses and chooses goes to the kernel by name and number. */

import { all } from './elements.js';

export class Answers {
  #send;
  #allows;

  /**
   * @param {(message: object) => void} send
   * @param {(button: HTMLElement) => boolean} allows whether a button takes a press now
   */
  constructor(send, allows) {
    this.#send = send;
    this.#allows = allows;
  }

  /**
   * @param {HTMLElement} target what was clicked
   * @param {Event} event
   */
  click(target, event) {
    const fold = target.closest('summary')?.parentElement;
    if (fold && !target.closest('a, button')) fold.dataset.touched = '';
    const button = target.closest('button[data-act], a[data-act]');
    if (!button) return;
    const isTaken = this.press(/** @type {HTMLButtonElement} */ (button));
    if (!isTaken) event.preventDefault(); // a link that does not count opens nothing
  }

  /**
   * @param {HTMLButtonElement} button
   * @returns {boolean} whether the press counts
   */
  press(button) {
    if (button.disabled || !this.#allows(button)) return false;
    const { act, id, n } = button.dataset;
    const entry = /** @type {HTMLElement | null} */ (button.closest('[data-rev]'));
    const rev = entry ? { rev: Number(entry.dataset.rev) } : {};
    this.#send({ t: 'act', act, id, n: n === undefined ? null : Number(n), ...rev });
    if (act === 'stop' || act === 'earlier') return true; // pressed again it means more
    const card = button.closest('[data-keys]') ?? button.parentElement;
    if (!card) return true;
    card.setAttribute('aria-busy', 'true');
    for (const other of card.querySelectorAll('button')) other.disabled = true;
    button.classList.add('acp-pressed');
    return true;
  }

  /** @param {HTMLElement} control what was changed */
  choose(control) {
    const { act, id } = control.dataset;
    if (act !== 'option') return;
    const select = /** @type {HTMLSelectElement} */ (control);
    this.#send({ t: 'act', act, id, value: select.value });
    select.disabled = true; // until the agent has answered
  }

  /**
   * On a question that has the focus: a digit chooses, Enter allows this once.
   *
   * @param {KeyboardEvent} event
   */
  key(event) {
    const button = meantButton(event);
    if (!button || button.disabled) return;
    takeKey(event);
    this.press(button);
  }
}

/**
 * Enter in a form's line; the notebook takes the key away before the browser sends the form.
 *
 * @param {KeyboardEvent} event
 * @returns {boolean} whether it was that
 */
export function submitByKey(event) {
  const target = /** @type {HTMLInputElement} */ (event.target);
  if (event.key !== 'Enter' || !target.matches('form[data-form] input')) return false;
  takeKey(event);
  target.form?.requestSubmit();
  return true;
}

/**
 * Keys in a question are answers here, not the notebook's shortcuts, which look at what has the
 * focus before they look for this mark above it.
 *
 * @param {HTMLElement} entry
 */
export function keepKeys(entry) {
  for (const card of all(entry, '[data-keys], form')) {
    for (const part of [card, ...all(card, 'input, select, button, a, summary, pre')]) {
      part.dataset.lmSuppressShortcuts = '';
    }
  }
}

/**
 * The notebook has its own meaning for the keys that this page takes.
 *
 * @param {KeyboardEvent} event
 */
export function takeKey(event) {
  event.preventDefault();
  event.stopPropagation();
}

/** @param {KeyboardEvent} event */
function meantButton(event) {
  const target = /** @type {HTMLElement} */ (event.target);
  const card = target.closest('[data-keys]');
  if (!card || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return undefined;
  /** @type {HTMLButtonElement[]} */
  const buttons = all(card, 'button[data-act]');
  if (/^[1-9]$/.test(event.key)) return buttons[Number(event.key) - 1];
  if (event.key !== 'Enter' || target !== card) return undefined;
  return buttons.find(button => button.matches('[data-primary]'));
}
