import assert from 'node:assert/strict';
import test, { afterEach, beforeEach, mock } from 'node:test';

import { Model, place, pressKey } from './dom.js';

// The joined module, or the modules themselves.
const { default: view } = await import(
  process.env.PAGE_MODULE ?? '../../../acp_notebook/widgets/static/terminal_view.js'
);

let model, el, input, screen, close;

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ['setTimeout'] });
  model = new Model();
  el = place();
  close = view.render({ model, el });
  input = el.querySelector('input');
  screen = el.querySelector('pre');
});

afterEach(() => {
  close();
  document.body.replaceChildren();
});

const show = (more = {}) => model.receive({ title: 'demo', screen: 'Name: ', ...more });
const typed = () => model.sent.filter(({ t }) => t === 'type').map(({ keys }) => keys);

test('it asks until it has a screen', () => {
  mock.timers.tick(1_500);
  show();
  for (let n = 0; n < 9; n++) mock.timers.tick(2_000);
  assert.deepEqual(
    model.sent.map(({ t }) => t),
    ['sync', 'sync']
  );
});

test('the first screen gives the line the focus, later ones do not', () => {
  show({ screen: '<b>Name:</b>' });
  assert.equal(screen.innerHTML, '<b>Name:</b>');
  assert.equal(screen.getAttribute('aria-label'), 'demo');
  assert.equal(document.activeElement, input);
  screen.focus();
  show({ hidden: true });
  assert.equal(document.activeElement, screen);
  assert.equal(input.type, 'password');
  show();
  assert.equal(input.type, 'text');
  model.receive({});
  assert.equal(screen.textContent, 'Name: ');
});

test('a line is sent with Enter, by key or by button', () => {
  input.value = 'Ann';
  assert.equal(pressKey(input, 'Enter'), true);
  assert.equal(input.value, '');
  input.value = 'Bob';
  el.querySelector('button').click();
  assert.equal(pressKey(input, 'Enter', { isComposing: true }), false);
  assert.deepEqual(typed(), ['Ann\r', 'Bob\r']);
});

test('arrows and the like go to the program while no line is written', () => {
  assert.equal(pressKey(input, 'ArrowUp'), true);
  input.value = 'x';
  assert.equal(pressKey(input, 'Backspace'), false);
  assert.equal(pressKey(screen, 'Backspace'), true);
  assert.equal(pressKey(screen, 'Enter'), true);
  assert.equal(pressKey(screen, 'ArrowUp', { altKey: true }), false);
  assert.equal(pressKey(input, 'Tab'), false);
  assert.deepEqual(typed(), ['\x1b[A', '\x7f', '\r']);
});

test('Ctrl-C, Ctrl-D and Ctrl-Z go to the program, unless something is to be copied', () => {
  for (const key of ['c', 'd', 'Z']) assert.equal(pressKey(input, key, { ctrlKey: true }), true);
  assert.equal(pressKey(input, 'v', { ctrlKey: true }), false);
  show();
  getSelection().selectAllChildren(screen);
  assert.equal(pressKey(screen, 'c', { ctrlKey: true }), false);
  assert.deepEqual(typed(), ['\x03', '\x04', '\x1a']);
});

test('the buttons send what is on them', () => {
  for (const button of [...el.querySelectorAll('button')].slice(1)) button.click();
  assert.deepEqual(typed(), ['\x03', '\x04', '\t', '\x1b', '\x1b[A', '\x1b[B']);
  assert.equal(document.activeElement, input);
});
