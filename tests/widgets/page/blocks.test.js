import assert from 'node:assert/strict';
import test, { beforeEach } from 'node:test';

import { place } from './dom.js';
import { Blocks } from '../../../acp_notebook/widgets/static/blocks.js';

let list, blocks, changed;

beforeEach(() => {
  document.body.replaceChildren();
  changed = [];
  const root = place('<p data-slot="foot"></p><div class="list"></div>');
  list = root.querySelector('.list');
  blocks = new Blocks(root, list, {
    onEntry: entry => changed.push(entry.dataset.entry),
    onSlot: (slot, groups) => changed.push(slot.dataset.slot, groups.length)
  });
});

const put = (id, html, keep) => blocks.put({ op: 'put', id, kind: 'tool', html, keep });

test('entries come one below the other and stay in their place', () => {
  put('e0', '<b>one</b>');
  put('e1', 'two');
  const first = blocks.entry('e0');
  put('e0', '<b>ONE</b>');
  assert.equal(list.textContent, 'ONEtwo');
  assert.equal(blocks.entry('e0'), first);
  assert.equal(first.className, 'acp-entry acp-is-tool');
  assert.deepEqual(changed, ['e0', 'e1', 'e0']);
});

test('a removed entry that comes back comes last', () => {
  put('e0', 'one');
  put('e1', 'two');
  blocks.remove('e0');
  assert.equal(blocks.entry('e0'), undefined);
  put('e0', 'three');
  assert.equal(list.textContent, 'twothree');
  blocks.remove('e9');
});

test('only the middle of a long entry has to come', () => {
  put('e0', '<b>start 🎉</b><i>old</i><u>end</u>');
  put('e0', '<i>new</i>', [15, 10]);
  assert.equal(list.firstChild.innerHTML, '<b>start 🎉</b><i>new</i><u>end</u>');
  put('e0', '<i>newer</i>', [15, 10]);
  assert.equal(list.firstChild.innerHTML, '<b>start 🎉</b><i>newer</i><u>end</u>');
  put('e0', '<i>last</i>', [15, 0]);
  assert.equal(list.firstChild.innerHTML, '<b>start 🎉</b><i>last</i>');
});

test('slots are found wherever they stand, also anew', () => {
  put('e0', '<div data-slot="e0.out"></div>');
  blocks.set({ op: 'set', slot: 'e0.out', html: '<p>text</p>' });
  blocks.set({ op: 'set', slot: 'foot', html: 'Working' });
  blocks.set({ op: 'set', slot: 'no"where', html: 'x' });
  put('e0', '<b>title</b><div data-slot="e0.out"></div>');
  assert.equal(list.textContent, 'titletext');
  put('e0', 'nothing');
  put('e0', '<div data-slot="e0.out"></div>');
  blocks.set({ op: 'set', slot: 'e0.out', html: 'anew' });
  assert.equal(list.textContent, 'anew');
  blocks.clear();
  assert.equal(list.textContent, '');
  put('e0', '<div data-slot="e0.out"></div>');
  blocks.set({ op: 'set', slot: 'e0.out', html: 'again' });
  assert.equal(list.textContent, 'again');
  assert.equal(list.previousSibling.textContent, 'Working');
});

test('what is added comes last, and of a terminal only the last lines are kept', () => {
  put('e0', '<div data-slot="t"></div>');
  blocks.add({ op: 'add', slot: 't', html: '<div>1</div><div>2</div>' });
  blocks.add({ op: 'add', slot: 't', html: '<div>3</div>', keep: 2 });
  blocks.add({ op: 'add', slot: 'nowhere', html: 'x' });
  assert.equal(list.textContent, '23');
});

test('a selection lasts while more is added', () => {
  put('e0', '<div data-slot="t"></div>');
  blocks.set({ op: 'set', slot: 't', html: '<p>some words</p>' });
  const text = list.querySelector('p').firstChild;
  getSelection().setBaseAndExtent(text, 0, text, 4);
  blocks.add({ op: 'add', slot: 't', html: '<p>more</p>' });
  put('e1', 'other');
  assert.equal(String(getSelection()), 'some');
});

test('finished blocks are put into groups, and only the last group grows', () => {
  put('e0', '<div class="acp-done" data-slot="d"></div>');
  blocks.set({ op: 'set', slot: 'd', html: '<p>x</p>'.repeat(30) });
  const sizes = () => [...list.querySelectorAll('.acp-group')].map(g => g.childElementCount);
  assert.deepEqual(sizes(), [24, 6]);
  blocks.add({ op: 'add', slot: 'd', html: '<p>y</p>' });
  assert.deepEqual(sizes(), [24, 7]);
  assert.deepEqual(changed, ['e0', 'd', 2, 'd', 1]);
});
