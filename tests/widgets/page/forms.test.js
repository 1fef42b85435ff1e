import assert from 'node:assert/strict';
import test, { afterEach } from 'node:test';

import { place } from './dom.js';
import { Forms, gatherValues, showWrong } from '../../../acp_notebook/widgets/static/forms.js';

afterEach(() => document.body.replaceChildren());

const FORM = `<form data-form="e1"><fieldset name="ignored">
  <input name="f0" value="Ann"><div data-wrong="0"></div>
  <input name="f1" type="checkbox"><div data-wrong="1"></div>
  <input name="f2" type="radio" value="l"><input name="f2" type="radio" value="r" checked>
  <input name="f3" type="checkbox" data-many value="a" checked>
  <input name="f3" type="checkbox" data-many value="b">
  <select name="f4"><option value="1"><option value="2" selected></select>
  <input name="f5" type="number" value="3"><button type="submit">Send</button>
</fieldset></form>`;
const VALUES = { f0: 'Ann', f1: false, f2: 'r', f3: ['a'], f4: '2', f5: '3' };

const makeForm = () => place(FORM).firstChild;
const named = (form, name, number = 0) => form.querySelectorAll(`[name="${name}"]`)[number];

test('every kind of field gives its value', () => {
  assert.deepEqual(gatherValues(makeForm()), VALUES);
});

test('nothing chosen is an empty value', () => {
  const form = makeForm();
  named(form, 'f2', 1).checked = false;
  named(form, 'f3').checked = false;
  const { f2, f3 } = gatherValues(form);
  assert.deepEqual([f2, f3], ['', []]);
});

test('what a browser does not take for a number is not lost', () => {
  const form = makeForm();
  Object.defineProperty(named(form, 'f5'), 'validity', { value: { badInput: true } });
  assert.equal(gatherValues(form).f5, 'no number');
});

test('what was typed is there again when the form is drawn anew', () => {
  const forms = new Forms(
    () => {},
    () => true
  );
  const form = makeForm();
  named(form, 'f0').value = 'Bob';
  named(form, 'f1').checked = true;
  named(form, 'f2', 0).checked = true;
  named(form, 'f3', 1).checked = true;
  named(form, 'f4').value = '1';
  forms.keepDraft(form);
  const again = makeForm();
  forms.restore(again);
  const values = { f0: 'Bob', f1: true, f2: 'l', f3: ['a', 'b'], f4: '1', f5: '3' };
  assert.deepEqual(gatherValues(again), values);
  const other = makeForm();
  other.dataset.form = 'e2';
  forms.restore(other);
  assert.deepEqual(gatherValues(other), VALUES);
});

test('a form is sent once, and again when something was wrong', () => {
  const sent = [];
  let mayBeSent = false;
  const forms = new Forms(
    message => sent.push(message),
    () => mayBeSent
  );
  const form = makeForm();
  forms.submit(form);
  assert.deepEqual(sent, []);
  mayBeSent = true;
  forms.submit(form);
  forms.submit(form);
  assert.deepEqual(sent, [{ t: 'act', act: 'submit', id: 'e1', values: VALUES }]);
  showWrong(form, { 1: 'Please agree.' });
  named(form, 'f5').value = '4';
  forms.submit(form);
  assert.equal(sent.length, 2);
  const again = makeForm();
  forms.restore(again);
  assert.equal(named(again, 'f5').value, '4');
});

test('words stand beside their field, which gets the focus, and what was typed stays', () => {
  const form = makeForm();
  named(form, 'f0').value = 'Bob';
  showWrong(form, { 1: 'Please agree.' });
  const words = () => [...form.querySelectorAll('[data-wrong]')].map(e => e.textContent);
  assert.deepEqual(words(), ['', 'Please agree.']);
  assert.equal(document.activeElement, named(form, 'f1'));
  assert.equal(named(form, 'f1').getAttribute('aria-invalid'), 'true');
  assert.equal(named(form, 'f0').value, 'Bob');
  showWrong(form, {});
  assert.deepEqual(words(), ['', '']);
  assert.equal(named(form, 'f1').getAttribute('aria-invalid'), 'false');
  showWrong(undefined, {});
});
