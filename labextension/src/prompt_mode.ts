/**
 * The editor extension that turns a cell into a prompt while its text says so.
 *
 * Knows CodeMirror only. The cell's MIME type stays as it is: the kernel decides it, and
 * completion, hints and language servers depend on it. Switching changes the editor's
 * configuration, never the text, so the undo history is untouched.
 */

import {
  Compartment,
  EditorState,
  Prec,
  StateEffect,
  StateField,
  type Extension,
  type Transaction
} from '@codemirror/state';
import { EditorView, ViewPlugin } from '@codemirror/view';

import { isPrompt } from './prompt_text.js';

/** The class of a prompt's editor. */
const PROMPT_CLASS = 'acp-mod-prompt';

const appearance: Extension = [
  EditorView.editorAttributes.of({ class: PROMPT_CLASS }),
  EditorView.lineWrapping
];

const plain: Extension = [];

const promptChanged = StateEffect.define<Extension>();

/** What a prompt cell gets; known without the language until that arrives. */
const promptExtension = StateField.define<Extension>({
  create: () => appearance,
  update: (extension, transaction) => arrived(transaction) ?? extension
});

/** Gives prompts their language, which the application loads when it is first needed. */
export function addLanguage(language: Extension): StateEffect<Extension> {
  // Before the language of the cell's MIME type: an editor uses the first one only.
  return promptChanged.of([appearance, Prec.highest(language)]);
}

/** An editor extension that follows the text: prompt or not, with every change. */
export function promptMode(): Extension {
  const mode = new Compartment();
  const follow = EditorState.transactionExtender.of(transaction => {
    const { startState } = transaction;
    const extension = arrived(transaction) ?? startState.field(promptExtension);
    const wanted = isPrompt(transaction.newDoc) ? extension : plain;
    return wanted === mode.get(startState) ? null : { effects: mode.reconfigure(wanted) };
  });
  return [promptExtension, mode.of(plain), follow];
}

/** Hands the language to each editor that it is part of, as soon as it has arrived. */
export function languageLoader(language: Promise<Extension>): Extension {
  return ViewPlugin.define(view => {
    let open = true;
    void language.then(extension => {
      if (open) {
        view.dispatch({ effects: addLanguage(extension) });
      }
    });
    return {
      destroy: () => {
        open = false;
      }
    };
  });
}

function arrived(transaction: Transaction): Extension | null {
  return transaction.effects.find(effect => effect.is(promptChanged))?.value ?? null;
}
