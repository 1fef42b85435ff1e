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

/** @returns {HTMLElement} a place in the document, with the given HTML in it */
export function place(html = '') {
  const element = document.createElement('div');
  document.body.append(element);
  element.innerHTML = html;
  return element;
}
