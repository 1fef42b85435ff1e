/**
 * The page's half of a turn: it stores and places blocks of HTML that the kernel made safe, and
 * sends back which button was pressed. It knows nothing of agents.
 */

import { Answers, keepKeys, submitByKey } from './answering.js';
import { TitleBadge } from './badge.js';
import { Blocks } from './blocks.js';
import { Clock } from './clock.js';
import { one } from './elements.js';
import { Finishing } from './finishing.js';
import { Forms, showWrong } from './forms.js';
import { linkFiles } from './links.js';
import { Sequence } from './messages.js';
import { Readiness } from './readiness.js';
import { placeRecord } from './recording.js';
import { Scroller, followTerminal } from './scrolling.js';
import { speak } from './speaking.js';

const TICK_MS = 1000;
const LAYOUT =
  '<div class="acp-head"><div class="acp-who" data-slot="head"></div>' +
  '<div class="acp-now" data-slot="now"></div></div><div class="acp-more">' +
  '<div class="acp-facts" data-slot="usage"></div><div class="acp-controls" ' +
  'data-slot="controls"></div></div><div class="acp-earlier" data-slot="earlier"></div>' +
  '<div class="acp-entries"></div><div class="acp-foot"><span data-slot="foot"></span></div>' +
  '<div class="acp-say" role="status" aria-live="polite"></div>';

class TurnPage {
  #model;
  #root;
  #id = Math.random().toString(36).slice(2);
  #isOver = false;
  #isPlaced = false;
  #badge = new TitleBadge();
  #clock = new Clock();
  #finishing = new Finishing();
  #voice;
  #readiness;
  #scroller;
  #sequence;
  #answers;
  #forms;
  #blocks;
  #ticker;

  /**
   * @param {import('./messages.js').Model} model
   * @param {HTMLElement} root
   */
  constructor(model, root) {
    const send = (/** @type {object} */ message) => model.send(message);
    root.classList.add('acp');
    root.innerHTML = LAYOUT;
    this.#model = model;
    this.#root = root;
    this.#voice = one(root, '.acp-say');
    this.#scroller = new Scroller(root);
    this.#sequence = new Sequence(() => send({ t: 'sync', page: this.#id }));
    this.#readiness = new Readiness(text => speak(this.#voice, { text }));
    const allows = (/** @type {HTMLElement} */ pressed) => this.#readiness.allows(pressed);
    this.#answers = new Answers(send, allows);
    this.#forms = new Forms(send, allows);
    this.#blocks = new Blocks(root, one(root, '.acp-entries'), {
      onEntry: entry => this.#complete(entry),
      onSlot: (slot, groups) => {
        for (const group of groups) this.#finishing.soon(group);
        followTerminal(slot);
      }
    });
    model.on('msg:custom', this.#onMessage);
    document.addEventListener('visibilitychange', this.#onSight);
    this.#listen();
    this.#ticker = setInterval(() => this.#tick(), TICK_MS);
    this.#sequence.restart();
    if (document.hidden) this.#hide();
  }

  close() {
    this.#model.off('msg:custom', this.#onMessage);
    document.removeEventListener('visibilitychange', this.#onSight);
    clearInterval(this.#ticker);
    this.#sequence.stop();
    this.#finishing.stop();
    this.#readiness.stop();
    this.#badge.set(false);
    // At the end the record takes the view's place; until a page says so, its model is kept.
    if (this.#isOver) this.#reportPlaced();
  }

  /** These go with the element. */
  #listen() {
    /**
     * @template {keyof HTMLElementEventMap} K
     * @param {K} name
     * @param {(target: HTMLElement & {form?: HTMLFormElement | null},
     *   event: HTMLElementEventMap[K]) => void} react
     * @param {boolean} [capture]
     */
    const on = (name, react, capture) =>
      this.#root.addEventListener(
        name,
        event => react(/** @type {HTMLElement} */ (event.target), event),
        capture
      );
    on('click', (target, event) => this.#answers.click(target, event));
    on('keydown', (_, event) => submitByKey(event) || this.#answers.key(event));
    on('input', target => this.#forms.keepDraft(target.form));
    on('toggle', target => this.#finishing.soon(target), true);
    on('change', target => this.#answers.choose(target));
    on('submit', (target, event) => {
      event.preventDefault();
      this.#forms.submit(/** @type {HTMLFormElement} */ (target));
    });
  }

  /** @param {any} message */
  #onMessage = message => {
    if (message?.record) {
      if (placeRecord(this.#model.widget_manager, message)) this.#reportPlaced();
    } else if (Array.isArray(message?.ops)) this.#receive(message);
  };

  /** @param {import('./messages.js').TurnMessage} message */
  #receive(message) {
    this.#isOver = message.over;
    this.#badge.set(message.asks);
    if (document.hidden) {
      // Nobody looks: what is missed now is asked for when somebody does.
      this.#sequence.stop();
      for (const operation of message.ops) if (operation.op === 'say') this.#perform(operation);
    } else if (this.#sequence.accepts(message)) {
      this.#clock.set(message.now);
      this.#scroller.keepPlace(() => message.ops.forEach(operation => this.#perform(operation)));
      this.#tick();
    }
  }

  /** @param {import('./messages.js').Operation} operation */
  #perform(operation) {
    switch (operation.op) {
      case 'clear':
        this.#readiness.clear();
        return this.#blocks.clear();
      case 'put':
        return this.#blocks.put(operation);
      case 'del':
        this.#readiness.forget(this.#blocks.entry(operation.id));
        return this.#blocks.remove(operation.id);
      case 'set':
        return this.#blocks.set(operation);
      case 'add':
        return this.#blocks.add(operation);
      case 'say':
        return speak(this.#voice, operation);
      case 'wrong':
        return showWrong(this.#blocks.entry(operation.id)?.querySelector('form'), operation.words);
    }
  }

  /** @param {HTMLElement} entry */
  #complete(entry) {
    keepKeys(entry);
    this.#readiness.watch(entry);
    for (const form of entry.querySelectorAll('form')) this.#forms.restore(form);
    linkFiles(entry, this.#model.widget_manager);
    this.#finishing.soon(entry);
  }

  #onSight = () => {
    this.#badge.update();
    if (document.hidden) this.#hide();
    else this.#sequence.resume();
  };

  #hide() {
    this.#model.send({ t: 'hidden', page: this.#id });
  }

  #reportPlaced() {
    if (!this.#isPlaced) this.#model.send({ t: 'settled' });
    this.#isPlaced = true;
  }

  #tick() {
    this.#badge.tick();
    if (!document.hidden) this.#clock.tick(this.#root);
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
    const page = new TurnPage(model, el);
    return () => page.close();
  }
};
