/**
 * Messages between the page and its kernel: their shapes, their numbers, and asking for everything
 * at the beginning and after a gap. What operations do is not known here.
 */

/**
 * @typedef {{op: 'clear'}} Clear
 * @typedef {{op: 'put', id: string, kind: string, html: string, keep?: [number, number],
 *   rev?: number}} Put
 * @typedef {{op: 'del', id: string}} Delete
 * @typedef {{op: 'set', slot: string, html: string}} SetSlot
 * @typedef {{op: 'add', slot: string, html: string, keep?: number}} AddToSlot
 * @typedef {{op: 'say', text: string, ask?: boolean}} Say
 * @typedef {{op: 'wrong', id: string, words: Record<string, string>}} Wrong
 * @typedef {Clear | Put | Delete | SetSlot | AddToSlot | Say | Wrong} Operation
 *
 * @typedef {object} TurnMessage
 * @property {number} n its number
 * @property {Operation[]} ops
 * @property {boolean} [whole] the operations build everything
 * @property {boolean} over the turn is over
 * @property {boolean} asks a question waits for the reader
 * @property {number} now what the kernel's clock says
 *
 * @typedef {object} Outputs a cell's outputs, as JupyterLab keeps them
 * @property {number} length
 * @property {(index: number) => {data: Record<string, any>}} get
 * @property {(index: number, output: object) => void} set
 *
 * @typedef {object} WidgetManager what is used of JupyterLab's
 * @property {{linkHandler?: {handleLink: (link: HTMLElement, path: string, id: string) => void}
 *   | null}} [rendermime]
 * @property {{path: string, localPath?: string,
 *   model?: {cells?: Iterable<{outputs?: Outputs}>}}} [context]
 *
 * @typedef {object} Model what is used of anywidget's
 * @property {(message: object) => void} send
 * @property {(name: 'msg:custom', callback: (message: any) => void) => void} on
 * @property {(name: 'msg:custom', callback: (message: any) => void) => void} off
 * @property {WidgetManager} [widget_manager]
 */

const RETRY_MS = 1500;
const RETRIES = 8;

/** Asks until there is an answer, but not for ever: the kernel may be gone. */
export class Request {
  #ask;
  #tries = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /** @param {() => void} ask */
  constructor(ask) {
    this.#ask = ask;
  }

  send() {
    this.stop();
    this.#ask();
    if (this.#tries++ < RETRIES) this.#timer = setTimeout(() => this.send(), RETRY_MS);
  }

  /** The answer has come, or is worth asking for as often as at the beginning. */
  settle() {
    this.stop();
    this.#tries = 0;
  }

  stop() {
    clearTimeout(this.#timer);
  }
}

/** The order of a turn's messages. */
export class Sequence {
  /** @type {number | null} */
  #seen = null;
  #request;

  /** @param {() => void} ask asks for everything */
  constructor(ask) {
    this.#request = new Request(ask);
  }

  restart() {
    this.#seen = null;
    this.#request.send();
  }

  /** Somebody looks again, and messages may have been missed meanwhile. */
  resume() {
    this.#request.settle();
    this.restart();
  }

  stop() {
    this.#request.stop();
  }

  /**
   * Whether a message is due; asks for everything if one before it is missing.
   *
   * @param {TurnMessage} message
   */
  accepts({ n, whole }) {
    // A whole one with the same number is for another view of the turn; this one is up to date.
    if (whole ? this.#seen === n : this.#seen === null || n <= this.#seen) return false;
    if (!whole && this.#seen !== null && n !== this.#seen + 1) {
      this.restart();
      return false;
    }
    this.#seen = n;
    this.#request.settle();
    return true;
  }
}
