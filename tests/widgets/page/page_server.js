/**
 * Pages for tests in Python: the module that a widget sends, on a DOM, driven by lines of JSON.
 *
 * The first line is the module's text. Then `{page, ops}` performs operations and answers with
 * what was said, `{page}` answers with what stands in the page, and `drop` names pages that are
 * done with. An operation that finds no place is a fault here, in a browser it would be passed over.
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
  #receive;
  #close;

  constructor() {
    const sent = [];
    const on = (_, callback) => (this.#receive = callback);
    this.#close = view.render({ model: { on, off() {}, send: m => sent.push(m) }, el: this.#el });
    this.#receive({ ...TURN, n: 0, ops: [], whole: true });
    this.sent = sent;
  }

  perform(ops) {
    const said = [];
    for (const op of ops) {
      this.#check(op);
      this.#receive({ ...TURN, n: ++this.#number, ops: [op] });
      if (op.op === 'say') said.push(this.#el.querySelector('.acp-say').textContent);
    }
    return { said };
  }

  #check({ op, id, slot, keep }) {
    const needed = slot !== undefined ? `slot="${slot}"` : `entry="${id}"`;
    const isNeeded = slot !== undefined || op === 'del' || op === 'wrong' || (op === 'put' && keep);
    if (isNeeded && !this.#el.querySelector(`[data-${needed}]`)) {
      throw new Error(`${op} finds no ${needed}`);
    }
  }

  read() {
    const entries = [...this.#el.querySelectorAll('.acp-entries > section')].map(entry => [
      entry.dataset.entry,
      entry.className.replace('acp-entry acp-is-', ''),
      entry.innerHTML
    ]);
    const line = name => this.#el.querySelector(`[data-slot="${name}"]`).innerHTML;
    return { entries, lines: Object.fromEntries(LINES.map(name => [name, line(name)])) };
  }

  close() {
    this.#close();
    this.#el.remove();
  }
}

const pages = new Map();

function answer({ page: id, ops, drop }) {
  for (const done of drop) {
    pages.get(done)?.close();
    pages.delete(done);
  }
  if (!pages.has(id)) pages.set(id, new Page());
  return ops ? pages.get(id).perform(ops) : pages.get(id).read();
}

for await (const line of lines) {
  let answered;
  try {
    answered = answer(JSON.parse(line));
  } catch (error) {
    answered = { error: error.stack };
  }
  process.stdout.write(`${JSON.stringify(answered)}\n`);
}
