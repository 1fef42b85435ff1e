import assert from 'node:assert/strict';
import test, { beforeEach, mock } from 'node:test';

import { Request, Sequence } from '../../../acp_notebook/widgets/static/messages.js';

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ['setTimeout'] });
});

test('it asks again until there is an answer', () => {
  const ask = mock.fn();
  const request = new Request(ask);
  request.send();
  mock.timers.tick(1_500);
  mock.timers.tick(1_500);
  assert.equal(ask.mock.callCount(), 3);
  request.settle();
  mock.timers.tick(60_000);
  assert.equal(ask.mock.callCount(), 3);
});

test('it gives up in time, and begins anew when it is settled', () => {
  const ask = mock.fn();
  const request = new Request(ask);
  request.send();
  for (let n = 0; n < 50; n++) mock.timers.tick(1_500);
  assert.equal(ask.mock.callCount(), 9);
  request.settle();
  request.send();
  mock.timers.tick(1_500);
  assert.equal(ask.mock.callCount(), 11);
});

test('nothing is due before everything has come, and then one after the other', () => {
  const ask = mock.fn();
  const sequence = new Sequence(ask);
  sequence.restart();
  assert.equal(sequence.accepts({ n: 4 }), false);
  assert.equal(sequence.accepts({ n: 4, whole: true }), true);
  assert.equal(sequence.accepts({ n: 5 }), true);
  assert.equal(sequence.accepts({ n: 6 }), true);
  mock.timers.tick(60_000);
  assert.equal(ask.mock.callCount(), 1);
});

test('what was seen already, or is for another view, is not due', () => {
  const ask = mock.fn();
  const sequence = new Sequence(ask);
  sequence.accepts({ n: 4, whole: true });
  assert.equal(sequence.accepts({ n: 3 }), false);
  assert.equal(sequence.accepts({ n: 4 }), false);
  assert.equal(sequence.accepts({ n: 4, whole: true }), false);
  assert.equal(sequence.accepts({ n: 6, whole: true }), true);
  assert.equal(ask.mock.callCount(), 0);
});

test('after a gap everything is asked for, and deltas wait for it', () => {
  const ask = mock.fn();
  const sequence = new Sequence(ask);
  sequence.accepts({ n: 1, whole: true });
  assert.equal(sequence.accepts({ n: 3 }), false);
  assert.equal(ask.mock.callCount(), 1);
  assert.equal(sequence.accepts({ n: 4 }), false);
  assert.equal(ask.mock.callCount(), 1);
  assert.equal(sequence.accepts({ n: 4, whole: true }), true);
  assert.equal(sequence.accepts({ n: 5 }), true);
});

test('who looks again asks for everything; who stops looking asks no more', () => {
  const ask = mock.fn();
  const sequence = new Sequence(ask);
  sequence.accepts({ n: 1, whole: true });
  sequence.resume();
  assert.equal(ask.mock.callCount(), 1);
  sequence.stop();
  mock.timers.tick(60_000);
  assert.equal(ask.mock.callCount(), 1);
  assert.equal(sequence.accepts({ n: 1, whole: true }), true);
});
