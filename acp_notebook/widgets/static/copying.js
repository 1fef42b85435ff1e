/** The button that copies what stands beside it. */

import { all, makeButton } from './elements.js';

const COPIED_MS = 1500;

/** @param {HTMLElement} code */
export function copyButton(code) {
  const button = makeButton('Copy', 'acp-copy');
  button.addEventListener('click', async () => {
    button.textContent = (await copy(textOf(code))) ? 'Copied' : 'Not copied';
    setTimeout(() => (button.textContent = 'Copy'), COPIED_MS);
  });
  return button;
}

/** @param {HTMLElement} code */
function textOf(code) {
  const lines = all(code, '.acp-diff-line');
  if (lines.length) return lines.map(line => line.textContent).join('\n');
  return code.querySelector('pre')?.textContent ?? '';
}

/** @param {string} text */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // A server reached by plain http has no clipboard.
    const area = document.createElement('textarea');
    area.value = text;
    document.body.append(area);
    area.select();
    const isDone = document.execCommand('copy');
    area.remove();
    return isDone;
  }
}
