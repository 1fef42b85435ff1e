import assert from 'node:assert/strict';
import test, { beforeEach } from 'node:test';

import { place } from './dom.js';
import { Scroller, followTerminal } from '../../../acp_notebook/widgets/static/scrolling.js';

let frame, root, height;

/** A frame 400 high from 100 down, and a page in it that ends where `height` says. */
beforeEach(() => {
  document.body.replaceChildren();
  frame = place('<div><section></section></div>');
  root = frame.querySelector('section');
  height = 300;
  layOut(frame, { clientHeight: 400, scrollHeight: 2_000 });
  frame.getBoundingClientRect = () => ({ top: 100 });
  root.getBoundingClientRect = () => ({ bottom: 100 + height - frame.scrollTop });
  globalThis.getComputedStyle = element => ({ overflowY: element === frame ? 'auto' : 'visible' });
});

function layOut(element, sizes) {
  for (const [name, value] of Object.entries(sizes)) {
    Object.defineProperty(element, name, { value, configurable: true });
  }
}

const grow = (scroller, to) => scroller.keepPlace(() => (height = to));

test('a reader at the end follows what grows', () => {
  const scroller = new Scroller(root);
  grow(scroller, 350);
  assert.equal(frame.scrollTop, 0); // it is all to be seen
  grow(scroller, 500);
  assert.equal(frame.scrollTop, 108);
  grow(scroller, 600);
  assert.equal(frame.scrollTop, 208);
});

test('any other reader stays where they are', () => {
  const scroller = new Scroller(root);
  height = 1_000;
  grow(scroller, 1_100); // the end is below
  assert.equal(frame.scrollTop, 0);
  frame.scrollTop = 1_200;
  grow(scroller, 2_000); // the end was above
  assert.equal(frame.scrollTop, 1_200);
});

test('who writes in another place stays there', () => {
  const scroller = new Scroller(root);
  place('<textarea></textarea>').firstChild.focus();
  grow(scroller, 500);
  assert.equal(frame.scrollTop, 0);
});

test('a page that was moved finds its new frame', () => {
  const scroller = new Scroller(root);
  grow(scroller, 500);
  place().append(root);
  grow(scroller, 900);
  assert.equal(frame.scrollTop, 108);
});

test('a terminal follows its last line unless the reader has gone up', () => {
  const terminal = place('<div class="acp-term"><div></div></div>').firstChild;
  layOut(terminal, { clientHeight: 100, scrollHeight: 500 });
  followTerminal(terminal.firstChild);
  assert.equal(terminal.scrollTop, 500);
  terminal.scrollTop = 200;
  followTerminal(terminal.firstChild);
  assert.equal(terminal.scrollTop, 200);
  terminal.scrollTop = 350;
  followTerminal(terminal.firstChild);
  assert.equal(terminal.scrollTop, 500);
  followTerminal(root); // no terminal
});
