/**
 * Pages for tests in Python: the module that a widget sends, on a DOM, driven by lines of JSON.
 *
 * The first line is the module's text. Every other line names a page, and either the operations of
 * a message to it, or none: then what stands in the page is the answer. An operation that finds no
 * place is a fault here; in a browser it is passed over.
 */

import { createInterface } from 'node:readline';

import { place } from './dom.js';

const LINES = ['head', 'usage', 'controls', 'now', 'earlier', 'foot'];
const TURN = { over: false, asks: false, now: 0 };
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
// What waits until the page is quiet, or for the clock, would come at some time or other.
Object.assign(globalThis, { setTimeout: () => 0, setInterval: () => 0 });
const source = JSON.parse((await lines.next()).value);
const { default: view } = await import(`data:text/javascript,${encodeURIComponent(source)}`);

class Page {
  #el = place();
  #number = 0;
  #said = [];
  #error;
  #found = new Map();
  #voice;
  #receive;
  #close;

  constructor() {
    const on = (_, callback) => (this.#receive = callback);
    this.#close = view.render({ model: { on, off() {}, send() {} }, el: this.#el });
    [this.#voice] = this.#el.querySelectorAll('.acp-say');
    this.#receive({ ...TURN, n: 0, ops: [], whole: true });
  }

  /** What fails is answered to who reads next. */
  perform(ops) {
    try {
      this.#receive({ ...TURN, n: ++this.#number, ops: this.#checked(ops) });
    } catch (error) {
      this.#error ??= error.stack;
    }
  }

  #checked(ops) {
    const forEach = perform => {
      for (const op of ops) {
        this.#check(op);
        perform(op);
        if (op.op === 'say') this.#said.push(this.#voice.textContent);
      }
    };
    return Object.assign([...ops], { forEach });
  }

  #check({ op, id, slot, keep }) {
    const needsEntry = op === 'del' || op === 'wrong' || (op === 'put' && keep);
    if (slot !== undefined) this.#find(op, `[data-slot="${slot}"]`);
    else if (needsEntry) this.#find(op, `[data-entry="${id}"]`);
  }

  #find(op, selector) {
    if (this.#el.contains(this.#found.get(selector) ?? null)) return;
    const [place] = this.#el.querySelectorAll(selector);
    if (!place) throw new Error(`${op} finds no ${selector}`);
    this.#found.set(selector, place);
  }

  read() {
    if (this.#error) return { error: this.#error };
    const html = name => this.#el.querySelectorAll(`[data-slot="${name}"]`)[0].innerHTML;
    const entries = [...this.#el.querySelectorAll('.acp-entries > section')];
    return {
      said: this.#said,
      lines: Object.fromEntries(LINES.map(name => [name, html(name)])),
      entries: entries.map(({ dataset, className, innerHTML }) => [
        dataset.entry,
        className.replace('acp-entry acp-is-', ''),
        innerHTML
      ])
    };
  }

  close() {
    this.#close();
    this.#el.remove();
  }
}

const pages = new Map();

for await (const line of lines) {
  const { page: id, ops, drop } = JSON.parse(line);
  for (const done of drop) {
    pages.get(done)?.close();
    pages.delete(done);
  }
  if (!pages.has(id)) pages.set(id, new Page());
  const page = pages.get(id);
  if (ops) page.perform(ops);
  else process.stdout.write(`${JSON.stringify(page.read())}\n`);
}
