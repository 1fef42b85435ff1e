/** What can wait until the page is quiet: buttons that copy, keys that scroll. */

import { copyButton } from './copying.js';
import { all } from './elements.js';

const QUIET_MS = 200;

export class Finishing {
  /** @type {Set<Element>} */
  #unfinished = new Set();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /** @param {Element} place */
  soon(place) {
    this.#unfinished.add(place);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#unfinished.forEach(finish);
      this.#unfinished.clear();
    }, QUIET_MS);
  }

  stop() {
    clearTimeout(this.#timer);
  }
}

/** @param {Element} place */
function finish(place) {
  for (const code of all(place, '.highlight, .acp-copyable')) {
    if (!code.querySelector(':scope > .acp-copy')) code.append(copyButton(code));
  }
  const boxes = all(place, 'pre, .acp-table, .acp-diff, .acp-term');
  // First all that is read, then all that is written: one layout, not one for each box.
  const scrolling = boxes.map(
    box => box.scrollHeight > box.clientHeight + 1 || box.scrollWidth > box.clientWidth + 1
  );
  boxes.forEach((box, number) => {
    if (scrolling[number]) box.tabIndex = 0;
    else box.removeAttribute('tabindex');
  });
}
