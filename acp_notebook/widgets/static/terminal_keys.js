/** Which bytes a key means to a program in a terminal. */

/** @type {Record<string, string>} */
const KEYS = {
  ArrowUp: '\x1b[A',
  ArrowDown: '\x1b[B',
  ArrowRight: '\x1b[C',
  ArrowLeft: '\x1b[D',
  Escape: '\x1b',
  Backspace: '\x7f'
};

/**
 * Tab stays with the page, so that nobody is caught here.
 *
 * @param {KeyboardEvent} event
 * @param {boolean} isFree no line is being written, in which these keys have a meaning
 * @returns {string | undefined}
 */
export function terminalKeys(event, isFree) {
  if (event.ctrlKey && /^[a-z]$/i.test(event.key)) return controlKey(event.key);
  return isFree && !event.altKey && !event.metaKey ? KEYS[event.key] : undefined;
}

/** @param {string} key */
function controlKey(key) {
  const isCopy = key === 'c' && String(getSelection());
  if (isCopy || !/^[cdz]$/i.test(key)) return undefined;
  return String.fromCharCode(key.toUpperCase().charCodeAt(0) - 64);
}
