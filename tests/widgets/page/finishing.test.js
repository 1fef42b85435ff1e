import assert from 'node:assert/strict';
import test, { beforeEach, mock } from 'node:test';

import { place } from './dom.js';
import { Finishing } from '../../../acp_notebook/widgets/static/finishing.js';

const QUIET_MS = 200;

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ['setTimeout'] });
});

function finished(box) {
  const finishing = new Finishing();
  finishing.soon(box);
  finishing.soon(box);
  assert.equal(box.querySelector('.acp-copy'), null);
  mock.timers.tick(QUIET_MS);
  return box;
}

async function copied(box) {
  const texts = [];
  const clipboard = { writeText: async text => void texts.push(text) };
  Object.defineProperty(navigator, 'clipboard', { value: clipboard, configurable: true });
  const button = box.querySelector('.acp-copy');
  button.click();
  await Promise.resolve();
  await Promise.resolve();
  await Promise.resolve();
  return [texts, button];
}

test('code gets one button, which copies it', async () => {
  const box = finished(place('<div class="highlight"><pre>x = 1\n</pre></div>'));
  new Finishing().soon(box);
  mock.timers.tick(QUIET_MS);
  assert.equal(box.querySelectorAll('.acp-copy').length, 1);
  const [texts, button] = await copied(box);
  assert.deepEqual(texts, ['x = 1\n']);
  assert.equal(button.textContent, 'Copied');
  mock.timers.tick(1_500);
  assert.equal(button.textContent, 'Copy');
});

test('of a diff its lines are copied', async () => {
  const lines = '<div class="acp-diff-line">-a</div><div class="acp-diff-line">+b</div>';
  const [texts] = await copied(finished(place(`<div class="acp-copyable">${lines}</div>`)));
  assert.deepEqual(texts, ['-a\n+b']);
});

test('without a clipboard the document copies, and the button says how it went', async () => {
  for (const [isDone, words] of [
    [true, 'Copied'],
    [false, 'Not copied']
  ]) {
    const box = finished(place('<div class="highlight"><pre>y</pre></div>'));
    let selected = '';
    document.execCommand = () => {
      selected = document.querySelector('textarea').value;
      return isDone;
    };
    Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true });
    const button = box.querySelector('.acp-copy');
    button.click();
    await Promise.resolve();
    assert.deepEqual([button.textContent, selected], [words, 'y']);
    assert.equal(document.querySelector('textarea'), null);
  }
});

test('only what scrolls can have the focus', () => {
  const box = place('<pre>long</pre><div class="acp-table" tabindex="0">short</div>');
  Object.defineProperty(box.firstChild, 'scrollWidth', { value: 900 });
  finished(box);
  assert.equal(box.firstChild.tabIndex, 0);
  assert.equal(box.lastChild.hasAttribute('tabindex'), false);
});
