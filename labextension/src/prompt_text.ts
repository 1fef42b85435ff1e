/**
 * Which cell text is a prompt, and where its magic line is.
 *
 * Knows only text: no editor, no notebook.
 */

import type { Text } from '@codemirror/state';

/** The magic's name as IPython reads it: up to the first space, not up to a tab. */
const MAGIC = /^%%acp(?: |\s*$)/;

/**
 * Whether IPython would hand this text to the `%%acp` magic.
 *
 * IPython drops blank lines above a cell magic and removes the first line's indent, so both count
 * as prompts here too. Only the lines up to the magic are read: this runs on every keystroke.
 */
export function isPrompt(text: Text): boolean {
  for (let number = 1; number <= text.lines; number++) {
    const line = text.line(number).text.trimStart();
    if (line !== '') {
      return MAGIC.test(line);
    }
  }
  return false;
}
