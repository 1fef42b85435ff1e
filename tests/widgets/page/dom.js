/** A DOM in Node.js in which the page's modules find what they use of a browser. */

import { JSDOM } from 'jsdom';

export const { window } = new JSDOM('<!doctype html><title>Notebook</title>', {
  pretendToBeVisual: true // or the document would be hidden
});

Object.assign(globalThis, {
  document: window.document,
  getComputedStyle: () => ({ overflowY: 'visible' }), // nothing is laid out here
  getSelection: () => window.getSelection(),
  CSS: { escape: name => name.replace(/["\\]/g, '\\$&') } // inside of quotes no more is needed
});

// Newer Node.js has one of its own, which cannot be assigned to.
Object.defineProperty(globalThis, 'navigator', { value: window.navigator });

/** A place in the document, with HTML in it. */
export function place(html = '') {
  const element = document.createElement('div');
  document.body.append(element);
  element.innerHTML = html;
  return element;
}

/** The document in a hidden or a visible tab. */
export function setHidden(isHidden) {
  Object.defineProperty(document, 'hidden', { value: isHidden, configurable: true });
  document.dispatchEvent(new window.Event('visibilitychange'));
}

/** A key as the page sees it; whether the page took it. */
export function pressKey(target, key, more = {}) {
  const options = { key, bubbles: true, cancelable: true, ...more };
  return !target.dispatchEvent(new window.KeyboardEvent('keydown', options));
}

/** A model as anywidget gives it: it keeps what is sent, and hands over what comes. */
export class Model {
  sent = [];
  #callback = () => {};

  constructor(manager) {
    this.widget_manager = manager;
  }

  on(_, callback) {
    this.#callback = callback;
  }

  off() {
    this.#callback = () => {};
  }

  send(message) {
    this.sent.push(message);
  }

  receive(message) {
    this.#callback(message);
  }
}
