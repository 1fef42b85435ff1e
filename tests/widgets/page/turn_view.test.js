import assert from 'node:assert/strict';
import test, { afterEach, beforeEach, mock } from 'node:test';

import { Model, place, pressKey, setHidden, window } from './dom.js';

// The joined module, or the modules themselves.
const { default: view } = await import(
  process.env.PAGE_MODULE ?? '../../../acp_notebook/widgets/static/turn_view.js'
);
const VIEW_MIME = 'application/vnd.jupyter.widget-view+json';
const QUESTION =
  '<div data-keys tabindex="0"><button data-act="answer" data-id="e1" data-n="0">Yes</button></div>';
const FORM = '<form data-form="e1"><input name="f0"><div data-wrong="0"></div></form>';

let model, el, close, number;

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  open();
});

afterEach(() => {
  close();
  setHidden(false);
  document.body.replaceChildren();
});

function open(manager) {
  model = new Model(manager);
  el = place();
  number = 0;
  close = view.render({ model, el });
}

const tell = (message, ops) =>
  model.receive({ over: false, asks: false, now: 100, ...message, ops });
const whole = (...ops) => tell({ n: number, whole: true }, [{ op: 'clear' }, ...ops]);
const delta = (...ops) => tell({ n: ++number }, ops);
const put = html => ({ op: 'put', id: 'e1', kind: 'question', html });
const sentKinds = () => model.sent.map(({ t }) => t);
const entries = () => el.querySelector('.acp-entries').textContent;

test('it asks for everything and then performs what comes', () => {
  delta(put('too early'));
  assert.equal(entries(), '');
  whole(put('<b>one</b> <i data-slot="s"></i>'));
  delta({ op: 'set', slot: 's', html: 'two' }, { op: 'set', slot: 'foot', html: 'Working' });
  delta({ op: 'add', slot: 's', html: ' three' }, { op: 'say', text: 'said' });
  assert.equal(entries(), 'one two three');
  assert.equal(el.querySelector('.acp-foot').textContent, 'Working');
  assert.equal(el.querySelector('[role=status]').textContent, 'said');
  delta({ op: 'del', id: 'e1' });
  assert.equal(entries(), '');
  assert.deepEqual(sentKinds(), ['sync']);
});

test('after a gap it asks again, with the same name', () => {
  whole();
  number += 1;
  delta(put('missed something'));
  assert.equal(entries(), '');
  assert.deepEqual(sentKinds(), ['sync', 'sync']);
  assert.equal(model.sent[0].page, model.sent[1].page);
  whole(put('everything'));
  assert.equal(entries(), 'everything');
});

test('what makes no sense is passed over', () => {
  for (const message of [null, undefined, 'x', {}, { ops: 'x' }]) model.receive(message);
  whole({ op: 'unknown' }, put('fine'));
  assert.equal(entries(), 'fine');
});

test('a hidden page says so, speaks, and asks for everything when it is seen again', () => {
  whole(put('before'));
  setHidden(true);
  tell({ n: 7, asks: true }, [put('unseen'), { op: 'say', text: 'May I?' }]);
  assert.equal(entries(), 'before');
  assert.equal(el.querySelector('[role=status]').textContent, 'May I?');
  assert.equal(document.title, '(?) Notebook');
  setHidden(false);
  assert.equal(document.title, 'Notebook');
  assert.deepEqual(sentKinds(), ['sync', 'hidden', 'sync']);
  assert.equal(model.sent[1].page, model.sent[0].page);
});

test('a page that begins hidden says so too', () => {
  close();
  setHidden(true);
  open();
  assert.deepEqual(sentKinds(), ['sync', 'hidden']);
});

test('buttons and keys answer', () => {
  whole(put(QUESTION));
  const card = el.querySelector('[data-keys]');
  assert.equal(card.dataset.lmSuppressShortcuts, '');
  assert.equal(pressKey(card, '1'), true);
  card.querySelector('button').click();
  assert.deepEqual(model.sent.slice(1), [{ t: 'act', act: 'answer', id: 'e1', n: 0 }]);
});

test('a form that everything is drawn anew around keeps what was typed', () => {
  whole(put(FORM));
  el.querySelector('input').value = 'Ann';
  el.querySelector('input').dispatchEvent(new window.Event('input', { bubbles: true }));
  setHidden(true);
  setHidden(false);
  whole(put(FORM));
  el.querySelector('form').requestSubmit();
  const [{ act, values }] = model.sent.slice(-1);
  assert.deepEqual([act, values], ['submit', { f0: 'Ann' }]);
  delta({ op: 'wrong', id: 'e1', words: { 0: 'Longer, please.' } });
  assert.equal(entries(), 'Longer, please.');
  assert.equal(document.activeElement, el.querySelector('input'));
});

test('clocks go on by themselves', () => {
  whole(put('<i data-since="90"></i>'));
  assert.equal(entries(), '10 s');
  tell({ n: ++number, now: 200 }, []);
  assert.equal(entries(), '1 min 50 s');
  el.querySelector('i').textContent = '';
  mock.timers.tick(1_000);
  assert.equal(entries(), '1 min 50 s');
});

test('after the end its place is given up, before the end it is not', () => {
  whole();
  close();
  assert.deepEqual(sentKinds(), ['sync']);
  open();
  tell({ n: 1, whole: true, over: true }, []);
  close();
  close();
  assert.deepEqual(sentKinds(), ['sync', 'settled']);
});

test('the record takes the place of the output that shows the view', () => {
  close();
  const outputs = [{ data: {} }, { data: { [VIEW_MIME]: { model_id: 'm1' } } }];
  const cell = {
    outputs: {
      length: 2,
      get: index => outputs[index],
      set: (index, output) => (outputs[index] = output)
    }
  };
  open({ context: { path: 'book.ipynb', model: { cells: [{}, cell] } } });
  model.receive({ model: 'm2', record: { 'text/plain': 'other' } });
  assert.deepEqual(sentKinds(), ['sync']);
  const record = { 'text/plain': 'done' };
  model.receive({ model: 'm1', record });
  assert.deepEqual(outputs[1], { output_type: 'display_data', data: record, metadata: {} });
  assert.deepEqual(sentKinds(), ['sync', 'settled']);
});

test('a closed page leaves no mark in the title', () => {
  tell({ n: 1, whole: true, asks: true }, []);
  setHidden(true);
  assert.equal(document.title, '(?) Notebook');
  close();
  assert.equal(document.title, 'Notebook');
});

test('a closed page does and asks nothing more', () => {
  close();
  const receive = model.sent.length;
  whole(put('late'));
  setHidden(true);
  setHidden(false);
  for (let n = 0; n < 9; n++) mock.timers.tick(2_000);
  assert.equal(entries(), '');
  assert.equal(model.sent.length, receive);
});

test('a model says that it is loaded, before any page shows it', () => {
  const loaded = [];
  view.initialize({ model: { send: message => loaded.push(message) } });
  assert.deepEqual(loaded, [{ t: 'loaded' }]);
});
