import assert from 'node:assert/strict';
import test from 'node:test';

import { place } from './dom.js';
import { Clock, inWords } from '../../../acp_notebook/widgets/static/clock.js';

test('spans are in words', () => {
  assert.deepEqual([-3, 0, 1, 59, 60, 3_725].map(inWords), [
    ...['', '', '1 s', '59 s'],
    ...['1 min 00 s', '62 min 05 s']
  ]);
});

test('it counts on the clock of the kernel, once it knows it', () => {
  const root = place('<i data-since="1000">?</i><i data-since="1074.5"></i><i>text</i>');
  const clock = new Clock();
  clock.tick(root);
  assert.equal(root.textContent, '?text');
  clock.set(1075);
  clock.tick(root);
  assert.equal(root.textContent, '1 min 15 stext');
});
