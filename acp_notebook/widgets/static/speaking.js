/** Words for those who listen, and for those who look elsewhere. */

/**
 * @param {HTMLElement} voice what a screen reader reads out
 * @param {{text: string, ask?: boolean}} operation
 */
export function speak(voice, { text, ask }) {
  voice.textContent = text;
  if (!ask || !document.hidden) return;
  if (globalThis.Notification?.permission === 'granted') {
    new Notification('Jupyter', { body: text, tag: 'acp' });
  }
}
