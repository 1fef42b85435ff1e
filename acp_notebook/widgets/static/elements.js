/** Finding elements with the types that they have. */

/**
 * @template {HTMLElement} [E=HTMLElement]
 * @param {ParentNode} place
 * @param {string} selector
 * @returns {E[]}
 */
export function all(place, selector) {
  return [.../** @type {NodeListOf<E>} */ (place.querySelectorAll(selector))];
}

/**
 * One that the page itself has made, so that it is there.
 *
 * @template {HTMLElement} [E=HTMLElement]
 * @param {ParentNode} place
 * @param {string} selector
 * @returns {E}
 */
export function one(place, selector) {
  return /** @type {E} */ (place.querySelector(selector));
}

/**
 * @param {string} words
 * @param {string} className
 */
export function makeButton(words, className) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = `acp-button ${className}`;
  button.textContent = words;
  return button;
}
