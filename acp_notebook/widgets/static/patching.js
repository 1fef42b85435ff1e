/**
 * New HTML in an old place, of which the reader keeps what is theirs: slots keep their content,
 * `<details>` stay as they were left, and the focus returns to what has the same key.
 *
 * No library that compares trees (idiomorph, morphdom) does it: what is long stands in slots, which
 * stay as they are, and what is replaced is small. A library would need to know slots and folds all
 * the same, and would add more than half to what every view sends (10 kB, minified, to 18 kB).
 */

import { all } from './elements.js';

/**
 * @param {HTMLElement} place
 * @param {string} html
 * @param {{keepsSlots: boolean}} options
 */
export function replaceHtml(place, html, { keepsSlots }) {
  const focused = focusedKey(place);
  const folds = new Map();
  for (const fold of all(place, 'details[data-touched]')) {
    folds.set(fold.dataset.key, /** @type {HTMLDetailsElement} */ (fold).open);
  }
  const slots = keepsSlots ? all(place, '[data-slot]') : [];
  place.innerHTML = html;
  if (slots.length) restoreSlots(place, slots);
  if (folds.size) restoreFolds(place, folds);
  if (focused) restoreFocus(place, focused);
}

/** @param {HTMLElement} place */
function focusedKey(place) {
  const active = /** @type {HTMLElement | null} */ (document.activeElement);
  return active && place.contains(active) ? active.dataset.key : undefined;
}

/**
 * @param {HTMLElement} place
 * @param {HTMLElement[]} slots
 */
function restoreSlots(place, slots) {
  const old = new Map(slots.map(slot => [slot.dataset.slot, slot]));
  for (const slot of all(place, '[data-slot]')) {
    const kept = old.get(slot.dataset.slot);
    if (kept) slot.replaceWith(kept);
  }
}

/**
 * @param {HTMLElement} place
 * @param {Map<string | undefined, boolean>} folds
 */
function restoreFolds(place, folds) {
  for (const fold of place.querySelectorAll('details')) {
    const isOpen = folds.get(fold.dataset.key);
    if (isOpen === undefined) continue;
    fold.open = isOpen;
    fold.dataset.touched = '';
  }
}

/**
 * @param {HTMLElement} place
 * @param {string} key
 */
function restoreFocus(place, key) {
  const same = all(place, '[data-key]').find(element => element.dataset.key === key);
  (same ?? all(place, 'summary, [tabindex]')[0])?.focus({ preventScroll: true });
}
