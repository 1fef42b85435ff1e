import assert from 'node:assert/strict';
import test, { afterEach } from 'node:test';

import { place } from './dom.js';
import { replaceHtml } from '../../../acp_notebook/widgets/static/patching.js';

afterEach(() => document.body.replaceChildren());

const fold = (key, more = '') => `<details data-key="${key}"${more}><summary>s</summary></details>`;

test('the focus returns to what has the same key', () => {
  const box = place('<button data-key="a">one</button><button data-key="b">two</button>');
  box.children[1].focus();
  replaceHtml(box, '<button data-key="b">new</button><button data-key="a">one</button>', {
    keepsSlots: true
  });
  assert.equal(document.activeElement.textContent, 'new');
});

test('the focus goes to what takes keys if its own place is gone', () => {
  const box = place('<button data-key="a">one</button>');
  box.firstChild.focus();
  replaceHtml(box, '<p>text</p><p tabindex="0">pressed</p>', { keepsSlots: true });
  assert.equal(document.activeElement.textContent, 'pressed');
});

test('a focus elsewhere is left alone', () => {
  const box = place('<button data-key="a">one</button>');
  const other = place('<input data-key="a">').firstChild;
  other.focus();
  replaceHtml(box, '<button data-key="a">new</button>', { keepsSlots: true });
  assert.equal(document.activeElement, other);
});

test('what is selected elsewhere stays selected', () => {
  const other = place('some words');
  const box = place('<p>old</p>');
  getSelection().setBaseAndExtent(other.firstChild, 5, other.firstChild, 10);
  replaceHtml(box, '<p>new</p>', { keepsSlots: true });
  assert.equal(String(getSelection()), 'words');
});

test('folds stay as the reader left them, the others as the kernel wants them', () => {
  const box = place(fold('a', ' data-touched') + fold('b', ' open data-touched') + fold('c'));
  replaceHtml(box, fold('a', ' open') + fold('b') + fold('c', ' open'), { keepsSlots: true });
  const folds = [...box.querySelectorAll('details')];
  assert.deepEqual(
    folds.map(({ open }) => open),
    [false, true, true]
  );
  replaceHtml(box, fold('a', ' open') + fold('b') + fold('c'), { keepsSlots: true });
  const again = [...box.querySelectorAll('details')];
  assert.deepEqual(
    again.map(({ open }) => open),
    [false, true, false]
  );
});

test('slots are kept with their content where there is one of the same name', () => {
  const box = place('<p data-slot="x"><i>kept</i></p><p data-slot="y">gone</p>');
  const kept = box.firstChild;
  replaceHtml(box, '<b>new</b><div data-slot="x"></div><div data-slot="z"></div>', {
    keepsSlots: true
  });
  assert.equal(box.children[1], kept);
  assert.equal(box.textContent, 'newkept');
  replaceHtml(box, '<div data-slot="x"></div>', { keepsSlots: false });
  assert.equal(box.textContent, '');
});
