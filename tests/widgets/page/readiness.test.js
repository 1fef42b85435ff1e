import assert from 'node:assert/strict';
import test, { afterEach, beforeEach, mock } from 'node:test';

import { place, setHidden, window } from './dom.js';
import { Readiness, STILL_MS } from '../../../acp_notebook/widgets/static/readiness.js';

const WINDOW = { width: 800, height: 600 };
const QUESTION =
  '<section><div data-ask><b>Run this?</b><div><pre tabindex="0">code</pre></div>' +
  '<div class="acp-ask-buttons"><button data-act="answer" data-effect="allow">Allow</button>' +
  '<button data-act="answer" data-effect="reject">Reject</button></div></div></section>';

let now, laidOut, said, scrolled, readiness, section, card, code, allow, reject;

/** Nothing is laid out in this DOM, so the test says where things are. */
function layOut(element, top, height, left = 10) {
  laidOut.set(element, { left, top, height });
  element.getBoundingClientRect = () => {
    const { top, height } = laidOut.get(element) ?? { top: 0, height: 0 };
    const box = { left, top, width: 100, height };
    return { ...box, right: box.left + box.width, bottom: top + height };
  };
}

/** A box that shows part of what is in it. */
function scroll(box, { rest, beside = 0 }) {
  Object.defineProperties(box, {
    clientHeight: { value: 100, configurable: true },
    scrollTop: { value: 0, configurable: true },
    scrollHeight: { value: 100 + rest, configurable: true },
    clientWidth: { value: 100, configurable: true },
    scrollLeft: { value: 0, configurable: true },
    scrollWidth: { value: 100 + beside, configurable: true }
  });
}

function put(at = 100) {
  section?.remove();
  section = place(QUESTION).firstChild;
  card = section.firstChild;
  code = card.querySelector('pre');
  [allow, reject] = card.querySelectorAll('button');
  move(at);
  readiness.watch(section);
}

function move(at) {
  layOut(card, at, 200);
  layOut(card.children[0], at, 20);
  layOut(card.children[1], at + 20, 100);
  layOut(code, at + 20, 100);
  layOut(card.children[2], at + 130, 40);
  layOut(allow, at + 140, 20, 10);
  layOut(reject, at + 140, 20, 200);
}

function pass(milliseconds) {
  for (let passed = 0; passed < milliseconds; passed += 50) {
    now += 50;
    mock.timers.tick(50);
  }
}

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ['setInterval'] });
  now = 1_000;
  mock.method(globalThis.performance, 'now', () => now);
  laidOut = new Map();
  said = [];
  globalThis.innerHeight = WINDOW.height;
  document.elementFromPoint = (x, y) => {
    if (y < 0 || y > WINDOW.height) return null;
    const hit = ([, { left, top, height }]) =>
      x >= left && x <= left + 100 && y >= top && y <= top + height;
    return [...laidOut].filter(hit).at(-1)?.[0] ?? null;
  };
  scrolled = [];
  window.Element.prototype.scrollTo = () => {};
  window.Element.prototype.scrollIntoView = function () {
    scrolled.push(this);
  };
  readiness = new Readiness(words => said.push(words));
  put();
});

afterEach(() => {
  readiness.stop();
  mock.restoreAll();
  setHidden(false);
  document.body.replaceChildren();
});

const ready = () => [allow, reject].map(button => readiness.allows(button));

test('a question takes an answer after it has stood still for a moment, and shows it', () => {
  assert.deepEqual(ready(), [false, false]);
  pass(STILL_MS - 50);
  assert.deepEqual(ready(), [false, false]);
  assert.equal(allow.getAttribute('aria-disabled'), 'true');
  pass(100);
  assert.deepEqual(ready(), [true, true]);
  assert.equal(allow.getAttribute('aria-disabled'), 'false');
});

test('one that takes the place of another begins anew', () => {
  pass(1_000);
  put();
  assert.deepEqual(ready(), [false, false]);
  pass(STILL_MS + 50);
  assert.deepEqual(ready(), [true, true]);
});

test('one that is drawn anew in its place begins anew', () => {
  pass(1_000);
  section.innerHTML = QUESTION.replace(/<\/?section>/g, '');
  card = section.firstChild;
  [allow, reject] = card.querySelectorAll('button');
  code = card.querySelector('pre');
  move(100);
  readiness.watch(section);
  assert.deepEqual(ready(), [false, false]);
});

test('one that has moved since it was looked at last begins anew', () => {
  pass(1_000);
  move(140);
  now += 10; // before the next look
  assert.deepEqual(ready(), [false, false]);
  pass(STILL_MS + 50);
  move(141); // rounding is no movement
  assert.deepEqual(ready(), [true, true]);
});

test('one that keeps moving never takes an answer', () => {
  for (let step = 0; step < 40; step++) {
    move(100 + 5 * step);
    pass(200);
    assert.deepEqual(ready(), [false, false]);
  }
});

test('out of view, covered or in a hidden tab it takes none; then it is brought into view', () => {
  pass(1_000);
  move(900);
  pass(1_000);
  assert.deepEqual(ready(), [false, false]);
  assert.deepEqual(scrolled, [card, card]);
  move(100);
  const cover = place().firstChild ?? place();
  layOut(cover, 230, 60);
  pass(1_000);
  assert.deepEqual(ready(), [false, false]);
  laidOut.delete(cover);
  pass(STILL_MS + 100);
  assert.deepEqual(ready(), [true, true]);
  setHidden(true);
  pass(1_000);
  assert.deepEqual(ready(), [false, false]);
});

test('what allows works after the end of the code was seen, what rejects before', () => {
  scroll(code, { rest: 180 });
  put();
  scroll(code, { rest: 180 });
  readiness.watch(section);
  pass(1_000);
  assert.deepEqual(ready(), [false, true]);
  assert.match(card.textContent, /↓ 10 more lines/);
  assert.equal(document.activeElement, code);
  assert.match(said.at(-1), /Read to the end first/);
  scroll(code, { rest: 0 });
  pass(50);
  assert.deepEqual(ready(), [true, true]);
  assert.match(card.textContent, /This is the end\./);
  scroll(code, { rest: 180 }); // back at its beginning
  pass(50);
  assert.deepEqual(ready(), [true, true]);
});

test('of a question taller than the window the parts are seen one after another', () => {
  scroll(code, { rest: 0 });
  put();
  layOut(card.children[2], 1_500, 40);
  layOut(allow, 1_500, 20, 10);
  layOut(reject, 1_500, 20, 200);
  layOut(card.children[1], 130, 450);
  layOut(code, 130, 450);
  readiness.watch(section);
  pass(1_000);
  for (const [element, top] of [
    [card.children[0], -900],
    [card.children[1], -600],
    [code, -600],
    [card.children[2], 300]
  ]) {
    layOut(element, top, laidOut.get(element).height);
  }
  layOut(allow, 300, 20, 10);
  layOut(reject, 300, 20, 200);
  pass(1_000);
  assert.deepEqual(ready(), [true, true]);
});

test('what is folded away from the beginning need not be seen; what was folded since has to be', () => {
  scroll(code, { rest: 0 });
  const fold = document.createElement('details');
  fold.innerHTML = '<summary>more</summary><pre>folded</pre>';
  card.children[1].append(fold);
  layOut(fold.lastChild, 5_000, 100); // browsers lay out what is folded away
  readiness.watch(section);
  pass(1_000);
  assert.deepEqual(ready(), [true, true]);
  fold.open = true;
  readiness.watch(section);
  fold.open = false;
  pass(1_000);
  assert.deepEqual(ready(), [false, true]);
  assert.equal(fold.open, true); // the press has opened it
  layOut(fold.lastChild, 125, 10);
  pass(50);
  assert.deepEqual(ready(), [true, true]);
});

test('what stands beside the window of a box has to be seen too', () => {
  scroll(code, { rest: 0, beside: 500 });
  readiness.watch(section);
  pass(1_000);
  assert.deepEqual(ready(), [false, true]);
  assert.match(card.textContent, /→ more beside it/);
  scroll(code, { rest: 0 });
  pass(50);
  assert.deepEqual(ready(), [true, true]);
});

for (const what of ['a formula', 'a part']) {
  test(`${what} that is wider than the card has to be scrolled to its end`, () => {
    put();
    if (what === 'a formula') code.outerHTML = '<div class="acp-formula">x</div>';
    const wide = what === 'a formula' ? card.querySelector('.acp-formula') : card.children[1];
    const ends = [];
    wide.scrollTo = (...end) => ends.push(end);
    layOut(wide, 120, 100);
    scroll(wide, { rest: 0, beside: 500 });
    readiness.watch(section);
    pass(1_000);
    assert.deepEqual(ready(), [false, true]);
    assert.match(card.textContent, /→ more beside it/);
    [...card.querySelectorAll('button')].find(each => each.textContent === 'Show the end').click();
    assert.deepEqual(ends, [[600, 100]]);
    scroll(wide, { rest: 0 });
    pass(50);
    assert.deepEqual(ready(), [true, true]);
  });
}

test('"Show all" shows all, and the end still has to come into view', () => {
  scroll(code, { rest: 900 });
  readiness.watch(section);
  pass(1_000);
  [...card.querySelectorAll('button')].find(each => each.textContent === 'Show all').click();
  assert.ok(code.classList.contains('acp-whole'));
  scroll(code, { rest: 0 });
  layOut(code, -900, 2_000); // its end is below the window
  pass(1_000);
  assert.deepEqual(ready(), [false, true]);
  layOut(code, -1_900, 2_000);
  pass(50);
  assert.deepEqual(ready(), [true, true]);
});

test('what stands outside of questions always works', () => {
  const stop = place('<p><button data-act="stop">Stop</button></p>').querySelector('button');
  assert.equal(readiness.allows(stop), true);
});

test('a question that nobody watches takes none', () => {
  const unwatched = place(QUESTION).querySelector('button');
  assert.equal(readiness.allows(unwatched), false);
});

test('a question that was out of the page for a while begins anew, and was not seen there', () => {
  scroll(code, { rest: 180 });
  readiness.watch(section);
  pass(1_000);
  const before = section.nextSibling;
  const home = section.parentNode;
  section.remove();
  laidOut.clear(); // what is out of the page has no place in it
  pass(1_000);
  home.insertBefore(section, before);
  move(100);
  assert.deepEqual(ready(), [false, false]);
  pass(STILL_MS + 50);
  assert.deepEqual(ready(), [false, true]);
  scroll(code, { rest: 0 });
  pass(50);
  assert.deepEqual(ready(), [true, true]);
});

test('questions that are gone are looked at no more', () => {
  readiness.forget(section);
  const look = mock.method(globalThis.performance, 'now');
  pass(500);
  assert.equal(look.mock.callCount(), 0);
});
