/**
 * Whether a question takes an answer now. A press means what stands under the pointer: a question
 * has to stand still in view for a moment first, and begins anew when it moves, changes or comes
 * into view. What allows something works only after the end of everything in the question was seen.
 */

import { all, makeButton } from './elements.js';

export const STILL_MS = 400;
const LOOK_MS = 50;
// Less is rounding, not movement.
const MOVED_PX = 2;
const END_PX = 4;
// What "Show all" unrolls; anything else can only be scrolled.
const UNROLLED = 'pre, .acp-diff, .acp-term';
const BOXES = `${UNROLLED}, .acp-table, .acp-formula`;
const CLOSED = 'details:not([open])';

export class Readiness {
  #announce;
  /** @type {Map<HTMLElement, Card[]>} by entry; a notebook may take one out of the page for a while */
  #cards = new Map();
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #timer;

  /** @param {(words: string) => void} announce */
  constructor(announce) {
    this.#announce = announce;
  }

  /** @param {HTMLElement} entry has new HTML, so its questions begin anew */
  watch(entry) {
    this.forget(entry);
    const cards = all(entry, '[data-ask]').map(element => new Card(element));
    if (!cards.length) return;
    this.#cards.set(entry, cards);
    this.#look();
    if (this.#timer) return;
    this.#timer = setInterval(this.#look, LOOK_MS);
    document.addEventListener('scroll', this.#look, { capture: true, passive: true });
  }

  /** @param {HTMLElement | undefined} entry has no questions any more */
  forget(entry) {
    if (entry && this.#cards.delete(entry) && !this.#cards.size) this.stop();
  }

  clear() {
    this.#cards.clear();
    this.stop();
  }

  stop() {
    clearInterval(this.#timer);
    this.#timer = undefined;
    document.removeEventListener('scroll', this.#look, { capture: true });
  }

  /**
   * @param {HTMLElement} pressed a button or a form; outside of questions everything works
   * @returns {boolean}
   */
  allows(pressed) {
    const element = pressed.closest('[data-ask]');
    const card = [...this.#cards.values()].flat().find(each => each.element === element);
    if (!card) return !element;
    const now = performance.now();
    card.look(now);
    if (card.allows(pressed, now)) return true;
    const words = card.show(pressed);
    if (words) this.#announce(words);
    return false;
  }

  #look = () => {
    for (const card of [...this.#cards.values()].flat()) card.look(performance.now());
  };
}

class Card {
  #buttons;
  /** @type {{left: number, top: number} | null} where the buttons are, while they are in view */
  #place = null;
  #since = 0;
  /** @type {Set<HTMLElement>} what has an end that was not in view yet */
  #unseen;

  /** @param {HTMLElement} element */
  constructor(element) {
    this.element = element;
    this.#buttons = all(element, '.acp-ask-buttons :is(button, a)');
    const parts = all(element, ':scope > *').filter(part => !part.matches('.acp-ask-buttons'));
    const boxes = all(element, BOXES).filter(box => !box.closest(CLOSED));
    this.#unseen = new Set([...parts, ...boxes]);
  }

  /** @param {number} now */
  look(now) {
    const place = this.#findPlace();
    if (!place || !this.#place || distance(place, this.#place) > MOVED_PX) this.#since = now;
    this.#place = place;
    // A question may be taller than the window: its parts are seen one after another.
    const isShown = !document.hidden && this.element.getBoundingClientRect().height > 0;
    if (isShown) for (const part of this.#unseen) this.#lookAtEnd(part);
    for (const button of this.#buttons) {
      const isReady = this.allows(button, now);
      if ((button.getAttribute('aria-disabled') === 'true') !== isReady) continue;
      button.setAttribute('aria-disabled', String(!isReady));
    }
  }

  /**
   * @param {HTMLElement} pressed
   * @param {number} now
   */
  allows(pressed, now) {
    const isStill = this.#place !== null && now - this.#since >= STILL_MS;
    return isStill && (!needsEnd(pressed) || this.#unseen.size === 0);
  }

  /**
   * Brings into view what has to be seen first.
   *
   * @param {HTMLElement} pressed
   * @returns {string} what to tell those who listen
   */
  show(pressed) {
    const [part] = needsEnd(pressed) ? this.#unseen : [];
    if (!part) {
      if (!this.#place) this.element.scrollIntoView({ block: 'end' });
      return '';
    }
    unfold(part);
    part.scrollIntoView({ block: fits(part) ? 'nearest' : 'end' });
    if (part.tabIndex >= 0) part.focus({ preventScroll: true });
    return 'Read to the end first: there is more than is in view.';
  }

  /** Where the buttons are; null unless the first and the last one can be seen. */
  #findPlace() {
    const ends = [this.#buttons[0], this.#buttons.at(-1)];
    if (document.hidden || !ends.every(button => button && isSeen(button))) return null;
    return /** @type {HTMLElement} */ (ends[0]).getBoundingClientRect();
  }

  /** @param {HTMLElement} part */
  #lookAtEnd(part) {
    const rest = restOf(part);
    const isAtEnd = rest.below <= END_PX && rest.beside <= END_PX;
    const { height } = part.getBoundingClientRect();
    if (!height || (isAtEnd && isSeen(part, { end: true }))) this.#unseen.delete(part);
    if (!isAtEnd || part.dataset.more !== undefined) tellRest(part, rest);
  }
}

/** @param {HTMLElement} pressed */
function needsEnd(pressed) {
  const { effect } = pressed.dataset;
  return effect !== undefined && effect !== 'reject';
}

/**
 * Whether the middle of an element, or its end, is in view and nothing covers it.
 *
 * @param {HTMLElement} element
 * @param {{end?: boolean}} [options]
 */
function isSeen(element, { end = false } = {}) {
  const { left, top, bottom, width, height } = element.getBoundingClientRect();
  if (!width || !height) return false;
  const x = left + (end ? Math.min(END_PX, width / 2) : width / 2);
  const y = end ? bottom - Math.min(END_PX, height / 2) : top + height / 2;
  const hit = document.elementFromPoint(x, y);
  return hit !== null && element.contains(hit);
}

/**
 * How much of a box is out of view, in pixels.
 *
 * @param {HTMLElement} box
 */
function restOf(box) {
  return {
    below: box.scrollHeight - box.scrollTop - box.clientHeight,
    beside: box.scrollWidth - box.scrollLeft - box.clientWidth
  };
}

/** @param {HTMLElement} part */
function unfold(part) {
  for (let fold = part.closest(CLOSED); fold; fold = part.closest(CLOSED)) {
    /** @type {HTMLDetailsElement} */ (fold).open = true;
  }
}

/** @param {HTMLElement} part */
function fits(part) {
  return part.getBoundingClientRect().height < innerHeight;
}

/**
 * @param {{left: number, top: number}} one
 * @param {{left: number, top: number}} other
 */
function distance(one, other) {
  return Math.max(Math.abs(one.left - other.left), Math.abs(one.top - other.top));
}

/**
 * Says below a box how much of it is out of view.
 *
 * @param {HTMLElement} box
 * @param {{below: number, beside: number}} rest in pixels
 */
function tellRest(box, rest) {
  let remark = /** @type {HTMLElement | null} */ (box.nextElementSibling);
  if (box.dataset.more === undefined) {
    box.dataset.more = '';
    remark = document.createElement('div');
    remark.className = 'acp-rest';
    const words = box.matches(UNROLLED) ? 'Show all' : 'Show the end';
    const button = makeButton(words, 'acp-quiet');
    button.addEventListener('click', () => {
      box.classList.add('acp-whole');
      box.scrollTo(box.scrollWidth, box.scrollHeight);
    });
    remark.append(document.createElement('span'), button);
    box.after(remark);
  }
  const words = restWords(box, rest);
  const place = remark?.firstElementChild;
  if (place && place.textContent !== words) place.textContent = words;
}

/**
 * @param {HTMLElement} box
 * @param {{below: number, beside: number}} rest in pixels
 */
function restWords(box, { below, beside }) {
  if (below > END_PX) {
    const lines = Math.ceil(below / (parseFloat(getComputedStyle(box).lineHeight) || 18));
    return `↓ ${lines} more ${lines === 1 ? 'line' : 'lines'}`;
  }
  return beside > END_PX ? '→ more beside it' : 'This is the end.';
}
