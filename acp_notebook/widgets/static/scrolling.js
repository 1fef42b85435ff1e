/** Following what grows: a reader at the end stays at the end, any other stays where they are. */

const NEAR_PX = 80;

export class Scroller {
  #root;
  /** @type {HTMLElement | null} what scrolls the page */
  #frame = null;

  /** @param {HTMLElement} root */
  constructor(root) {
    this.#root = root;
  }

  /** @param {() => void} change */
  keepPlace(change) {
    const frame = this.#findFrame();
    const follows = frame && this.#isAtEnd(frame);
    change();
    if (!follows) return;
    const below = this.#root.getBoundingClientRect().bottom - bottomOf(frame);
    if (below > 0) frame.scrollTop += below + 8;
  }

  /** @param {HTMLElement} frame */
  #isAtEnd(frame) {
    const writesElsewhere = document.activeElement?.closest('.cm-content, input, textarea');
    const end = this.#root.getBoundingClientRect().bottom;
    const bottom = bottomOf(frame);
    return !writesElsewhere && end <= bottom + NEAR_PX && end > bottom - frame.clientHeight;
  }

  #findFrame() {
    if (this.#root.contains(this.#frame) || !this.#frame?.contains(this.#root)) this.#frame = null;
    let node = this.#root.parentElement;
    for (; node && !this.#frame; node = node.parentElement) {
      if (scrolls(node)) this.#frame = node;
    }
    return this.#frame;
  }
}

/**
 * A terminal's lines have a frame of their own.
 *
 * @param {HTMLElement} slot
 */
export function followTerminal(slot) {
  const terminal = slot.closest('.acp-term');
  if (!terminal) return;
  const rest = terminal.scrollHeight - terminal.scrollTop - terminal.clientHeight;
  if (terminal.scrollTop === 0 || rest < NEAR_PX) terminal.scrollTop = terminal.scrollHeight;
}

/** @param {HTMLElement} node */
function scrolls(node) {
  const { overflowY } = getComputedStyle(node);
  return /auto|scroll/.test(overflowY) && node.scrollHeight > node.clientHeight + 1;
}

/** @param {HTMLElement} frame */
function bottomOf(frame) {
  return frame.getBoundingClientRect().top + frame.clientHeight;
}
