import assert from 'node:assert/strict';
import test, { beforeEach } from 'node:test';

import { place, pressKey } from './dom.js';
import { Answers, keepKeys, submitByKey } from '../../../acp_notebook/widgets/static/answering.js';

let box, card, refused, sent;

beforeEach(() => {
  document.body.replaceChildren();
  sent = [];
  refused = null;
  box = place(
    '<div tabindex="0" data-keys><button data-act="answer" data-id="e1" data-n="0">No</button>' +
      '<button data-act="answer" data-id="e1" data-n="1" data-primary>Yes</button></div>' +
      '<p><button data-act="stop"><i>Stop</i></button></p><details><summary>more</summary></details>' +
      '<select data-act="option" data-id="mode"><option>ask<option>trust</select><input>'
  );
  card = box.firstChild;
  const answers = new Answers(
    message => sent.push(message),
    button => button !== refused
  );
  box.addEventListener('click', event => answers.click(event.target, event));
  box.addEventListener('change', event => answers.choose(event.target));
  box.addEventListener('keydown', event => submitByKey(event) || answers.key(event));
});

const answered = n => [{ t: 'act', act: 'answer', id: 'e1', n }];

test('a press is sent once, and the card is busy', () => {
  card.children[1].click();
  card.children[0].click();
  assert.deepEqual(sent, answered(1));
  assert.equal(card.getAttribute('aria-busy'), 'true');
  assert.ok(card.children[1].classList.contains('acp-pressed'));
});

test('Stop can be pressed again', () => {
  box.querySelector('i').click();
  box.querySelector('i').click();
  assert.deepEqual(sent, Array(2).fill({ t: 'act', act: 'stop', id: undefined, n: null }));
});

test('a digit chooses, Enter on the question takes the first consent', () => {
  assert.equal(pressKey(card, '1'), true);
  assert.deepEqual(sent, answered(0));
  card.querySelectorAll('button').forEach(button => (button.disabled = false));
  assert.equal(pressKey(card, 'Enter'), true);
  assert.deepEqual(sent.slice(1), answered(1));
});

test('other keys, and those that mean something else, are left to the notebook', () => {
  for (const key of ['3', '9', '0', 'a', 'Escape']) assert.equal(pressKey(card, key), false);
  for (const more of ['ctrlKey', 'metaKey', 'altKey', 'repeat']) {
    assert.equal(pressKey(card, '1', { [more]: true }), false);
  }
  assert.equal(pressKey(card.firstChild, 'Enter'), false); // the button's own key
  assert.equal(pressKey(box.querySelector('input'), '1'), false);
  assert.deepEqual(sent, []);
});

test('keys of an answered question do nothing', () => {
  card.children[0].click();
  assert.equal(pressKey(card, '2'), false);
  assert.equal(sent.length, 1);
});

test('a chosen value is sent, and the control waits for the agent', () => {
  const select = box.querySelector('select');
  select.value = 'trust';
  select.dispatchEvent(new select.ownerDocument.defaultView.Event('change', { bubbles: true }));
  assert.deepEqual(sent, [{ t: 'act', act: 'option', id: 'mode', value: 'trust' }]);
  assert.equal(select.disabled, true);
});

test('a fold that the reader moves is marked', () => {
  box.querySelector('summary').click();
  assert.equal(box.querySelector('details').dataset.touched, '');
});

test('Enter in a line of a form sends it', () => {
  const form = place('<form data-form="e2"><input><textarea></textarea></form>').firstChild;
  let count = 0;
  form.addEventListener('keydown', submitByKey);
  form.addEventListener('submit', event => (event.preventDefault(), count++));
  assert.equal(pressKey(form.querySelector('input'), 'Enter'), true);
  assert.equal(pressKey(form.querySelector('textarea'), 'Enter'), false);
  assert.equal(count, 1);
});

test('the shortcuts of the notebook are held off from questions and forms only', () => {
  keepKeys(box);
  const marked = [...box.querySelectorAll('[data-lm-suppress-shortcuts]')];
  assert.deepEqual(marked, [card, ...card.children]);
});

test('a press that does not count yet sends nothing and opens nothing', () => {
  const link = place('<a data-act="open" data-id="e3" href="#x">Open</a>').firstChild;
  box.append(link);
  refused = link;
  let event;
  box.addEventListener('click', each => (event = each));
  link.click();
  assert.deepEqual(sent, []);
  assert.equal(event.defaultPrevented, true);
  refused = card.children[1];
  pressKey(card, '2');
  card.children[1].click();
  assert.deepEqual(sent, []);
  assert.equal(card.hasAttribute('aria-busy'), false);
  refused = null;
  link.click();
  assert.equal(event.defaultPrevented, false);
  assert.equal(sent.length, 1);
});

test('an answer says which drawing of the question it is for', () => {
  box.dataset.rev = '3';
  card.children[1].click();
  assert.deepEqual(sent, [{ ...answered(1)[0], rev: 3 }]);
});
