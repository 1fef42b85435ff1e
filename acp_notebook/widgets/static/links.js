/** A file that the server has opens in the notebook's own application. */

import { all } from './elements.js';

/**
 * @param {HTMLElement} place where `data-path` names files from the notebook's folder
 * @param {import('./messages.js').WidgetManager | undefined} manager
 */
export function linkFiles(place, manager) {
  const { rendermime, context } = manager ?? {};
  const handler = rendermime?.linkHandler;
  if (!handler || !context) return;
  for (const name of all(place, '[data-path]')) {
    const path = resolvePath(context.localPath ?? context.path, name.dataset.path ?? '');
    if (!path) continue;
    const link = document.createElement('a');
    link.href = '#';
    link.className = name.className;
    link.textContent = name.textContent;
    link.title = `Open ${path}`;
    const { line } = name.dataset;
    handler.handleLink(link, path, line ? `#line=${Number(line) - 1}` : '');
    link.addEventListener('click', event => event.preventDefault());
    name.replaceWith(link);
  }
}

/**
 * The server's path of what the notebook's folder calls `relative`; null if it is outside.
 *
 * @param {string} notebook
 * @param {string} relative
 */
export function resolvePath(notebook, relative) {
  const parts = notebook.split('/').slice(0, -1);
  for (const part of relative.split('/')) {
    if (part === '..') {
      if (!parts.length) return null;
      parts.pop();
    } else if (part && part !== '.') parts.push(part);
  }
  return parts.join('/');
}
