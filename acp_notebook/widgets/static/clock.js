/** How long things have taken, `data-since` a moment on the kernel's clock. */

import { all } from './elements.js';

export class Clock {
  /** @type {number | null} what the kernel's clock says at this page's zero */
  #zero = null;

  /** @param {number} now what the kernel's clock says */
  set(now) {
    this.#zero = now - performance.now() / 1000;
  }

  /** @param {HTMLElement} root */
  tick(root) {
    if (this.#zero === null) return;
    const now = this.#zero + performance.now() / 1000;
    for (const place of all(root, '[data-since]')) {
      const words = inWords(Math.floor(now - Number(place.dataset.since)));
      if (place.textContent !== words) place.textContent = words;
    }
  }
}

/** @param {number} seconds */
export function inWords(seconds) {
  if (seconds < 1) return '';
  const rest = String(seconds % 60).padStart(2, '0');
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${rest} s`;
}
