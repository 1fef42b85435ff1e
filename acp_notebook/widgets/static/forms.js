/**
 * Forms: their values, what was typed into one that is drawn anew, and words beside its fields.
 * What a field means is not known here.
 */

import { all } from './elements.js';

/** @typedef {Record<string, string | boolean | string[]>} Values by the controls' names */

export class Forms {
  #send;
  #allows;
  /** @type {Map<string, Values>} */
  #drafts = new Map();

  /**
   * @param {(message: object) => void} send
   * @param {(form: HTMLElement) => boolean} allows whether a form can be sent now
   */
  constructor(send, allows) {
    this.#send = send;
    this.#allows = allows;
  }

  /** @param {HTMLFormElement | null | undefined} form */
  keepDraft(form) {
    const id = form?.dataset.form;
    if (id) this.#drafts.set(id, gatherValues(form));
  }

  /** @param {HTMLFormElement} form */
  restore(form) {
    const draft = this.#drafts.get(form.dataset.form ?? '');
    if (draft) fillIn(form, draft);
  }

  /** @param {HTMLFormElement} form */
  submit(form) {
    if (form.getAttribute('aria-busy') === 'true' || !this.#allows(form)) return;
    this.keepDraft(form);
    const values = gatherValues(form);
    this.#send({ t: 'act', act: 'submit', id: form.dataset.form, values });
    form.setAttribute('aria-busy', 'true');
  }
}

/**
 * Words beside the fields; what was typed stays.
 *
 * @param {HTMLFormElement | null | undefined} form
 * @param {Record<string, string>} words by the field's number
 */
export function showWrong(form, words) {
  if (!form) return;
  form.removeAttribute('aria-busy');
  for (const place of all(form, '[data-wrong]')) {
    place.textContent = words[place.dataset.wrong ?? ''] ?? '';
  }
  let first = null;
  for (const control of controlsOf(form)) {
    const isWrong = Boolean(words[control.name.slice(1)]);
    control.setAttribute('aria-invalid', String(isWrong));
    if (isWrong) first ??= control;
  }
  first?.focus();
}

/**
 * @param {HTMLFormElement} form
 * @returns {HTMLInputElement[]} selects and the like among them, as far as they are alike
 */
function controlsOf(form) {
  const controls = /** @type {HTMLInputElement[]} */ ([...form.elements]);
  return controls.filter(control => control.name && control.type !== 'fieldset');
}

/**
 * @param {HTMLFormElement} form
 * @returns {Values}
 */
export function gatherValues(form) {
  /** @type {Values} */
  const found = {};
  for (const control of controlsOf(form)) {
    const { name, type, value, checked } = control;
    if (isOneOfMany(control)) {
      const chosen = /** @type {string[]} */ (found[name] ??= []);
      if (checked) chosen.push(value);
    } else if (type === 'checkbox') found[name] = checked;
    else if (type === 'radio') found[name] = checked ? value : (found[name] ?? '');
    else found[name] = control.validity.badInput ? 'no number' : value;
  }
  return found;
}

/**
 * @param {HTMLFormElement} form
 * @param {Values} values
 */
function fillIn(form, values) {
  for (const control of controlsOf(form)) {
    const value = values[control.name];
    if (isOneOfMany(control)) {
      control.checked = /** @type {string[]} */ (value).includes(control.value);
    } else if (control.type === 'checkbox') control.checked = Boolean(value);
    else if (control.type === 'radio') control.checked = value === control.value;
    else control.value = String(value);
  }
}

/** @param {HTMLElement} control */
function isOneOfMany(control) {
  return control.dataset.many !== undefined;
}
