/**
 * The blocks of HTML that the kernel made safe: an entry is a block in the list, a slot is a named
 * place, `data-slot`. What stands in a block is not known here.
 */

import { all } from './elements.js';
import { replaceHtml } from './patching.js';

const GROUP_SIZE = 24;

export class Blocks {
  #root;
  #list;
  #onEntry;
  #onSlot;
  /** @type {Map<string, HTMLElement>} */
  #entries = new Map();
  /** @type {Map<string, string>} what HTML each entry was made of */
  #sources = new Map();
  /** @type {Map<string, HTMLElement>} */
  #slots = new Map();

  /**
   * @param {HTMLElement} root where slots are
   * @param {HTMLElement} list where entries go
   * @param {object} listeners
   * @param {(entry: HTMLElement) => void} listeners.onEntry an entry has new HTML
   * @param {(slot: HTMLElement, groups: Element[]) => void} listeners.onSlot a slot has, and
   *   which groups in it have
   */
  constructor(root, list, { onEntry, onSlot }) {
    this.#root = root;
    this.#list = list;
    this.#onEntry = onEntry;
    this.#onSlot = onSlot;
  }

  /** @param {string} id */
  entry(id) {
    return this.#entries.get(id);
  }

  clear() {
    this.#list.replaceChildren();
    this.#entries.clear();
    this.#sources.clear();
    this.#slots.clear();
  }

  /** @param {string} id */
  remove(id) {
    this.#entries.get(id)?.remove();
    this.#entries.delete(id);
    this.#sources.delete(id);
  }

  /** @param {import('./messages.js').Put} operation */
  put({ id, kind, html, keep, rev }) {
    const entry = this.#entries.get(id) ?? this.#append(id, kind);
    const source = keep ? splice(this.#sources.get(id) ?? '', keep, html) : html;
    this.#sources.set(id, source);
    if (rev !== undefined) entry.dataset.rev = String(rev);
    replaceHtml(entry, source, { keepsSlots: true });
    this.#onEntry(entry);
  }

  /** @param {import('./messages.js').SetSlot} operation */
  set({ slot: name, html }) {
    const slot = this.#slot(name);
    if (!slot) return;
    replaceHtml(slot, html, { keepsSlots: false });
    this.#onSlot(slot, groupFinished(slot));
  }

  /** @param {import('./messages.js').AddToSlot} operation */
  add({ slot: name, html, keep }) {
    const slot = this.#slot(name);
    if (!slot) return;
    slot.insertAdjacentHTML('beforeend', html);
    const groups = groupFinished(slot);
    while (keep && slot.childElementCount > keep) slot.firstElementChild?.remove();
    this.#onSlot(slot, groups);
  }

  /**
   * @param {string} id
   * @param {string} kind
   */
  #append(id, kind) {
    const entry = document.createElement('section');
    entry.dataset.entry = id;
    entry.className = `acp-entry acp-is-${kind}`;
    this.#list.append(entry);
    this.#entries.set(id, entry);
    return entry;
  }

  /** @param {string} name */
  #slot(name) {
    const known = this.#slots.get(name);
    if (known && this.#root.contains(known)) return known;
    const [slot] = all(this.#root, `[data-slot="${CSS.escape(name)}"]`);
    if (slot) this.#slots.set(name, slot);
    return slot;
  }
}

/**
 * Of a long entry only what is new comes, between what the page has of its ends.
 *
 * @param {string} source
 * @param {[number, number]} keep
 * @param {string} html
 */
function splice(source, [start, end], html) {
  return source.slice(0, start) + html + source.slice(source.length - end);
}

/**
 * Finished blocks in groups, of which the browser lays out and paints only the last anew.
 *
 * @param {HTMLElement} slot
 * @returns {Element[]} the groups that got something
 */
function groupFinished(slot) {
  if (!slot.classList.contains('acp-done')) return [];
  let group = slot.lastElementChild;
  while (group && !group.matches('.acp-group')) group = group.previousElementSibling;
  const changed = new Set();
  for (let block = group ? group.nextSibling : slot.firstChild; block;) {
    const next = block.nextSibling;
    if (!group || group.childElementCount >= GROUP_SIZE) {
      group = document.createElement('div');
      group.className = 'acp-group';
      slot.insertBefore(group, block);
    }
    group.append(block);
    changed.add(group);
    block = next;
  }
  return [...changed];
}
