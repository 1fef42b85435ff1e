import assert from 'node:assert/strict';
import test from 'node:test';

import { place } from './dom.js';
import { linkFiles, resolvePath } from '../../../acp_notebook/widgets/static/links.js';

const HTML =
  '<code class="acp-path" data-path="src/a.py" data-line="3">a.py:3</code>' +
  '<code data-path="../../x">out</code>';

test('paths are those of the server, and none is outside of it', () => {
  assert.equal(resolvePath('work/book.ipynb', 'src/./a.py'), 'work/src/a.py');
  assert.equal(resolvePath('work/book.ipynb', '../a.py'), 'a.py');
  assert.equal(resolvePath('work/book.ipynb', '../../a.py'), null);
  assert.equal(resolvePath('book.ipynb', 'a//b'), 'a/b');
});

test('a file of the server becomes a link at its line', () => {
  const handled = [];
  const linkHandler = { handleLink: (link, path, id) => handled.push([link.tagName, path, id]) };
  const box = place(HTML);
  linkFiles(box, { rendermime: { linkHandler }, context: { path: 'work/book.ipynb' } });
  const [link] = box.querySelectorAll('a');
  assert.equal(
    link.outerHTML,
    '<a href="#" class="acp-path" title="Open work/src/a.py">a.py:3</a>'
  );
  assert.deepEqual(handled, [['A', 'work/src/a.py', '#line=2']]);
  assert.equal(box.children[1].outerHTML, '<code data-path="../../x">out</code>');
  const click = new link.ownerDocument.defaultView.Event('click', { cancelable: true });
  assert.equal(link.dispatchEvent(click), false);
});

test('a drive of its own has paths of its own', () => {
  const linkHandler = { handleLink: (link, path) => (link.title = path) };
  const box = place(HTML);
  const context = { path: 'RTC:work/book.ipynb', localPath: 'work/book.ipynb' };
  linkFiles(box, { rendermime: { linkHandler }, context });
  assert.equal(box.querySelector('a').title, 'work/src/a.py');
});

test('without a notebook around it nothing is linked', () => {
  for (const manager of [undefined, {}, { context: { path: 'b' }, rendermime: null }]) {
    const box = place(HTML);
    linkFiles(box, manager);
    assert.equal(box.innerHTML, HTML);
  }
});
