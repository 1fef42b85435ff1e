import assert from 'node:assert/strict';
import { test } from 'node:test';

import { history, undo } from '@codemirror/commands';
import { markdown, markdownLanguage } from '@codemirror/lang-markdown';
import { python } from '@codemirror/lang-python';
import { language } from '@codemirror/language';
import { EditorState, type Transaction } from '@codemirror/state';
import { EditorView } from '@codemirror/view';

import { promptLanguage } from '../src/prompt_language.js';
import { addLanguage, promptMode } from '../src/prompt_mode.js';

/** A code cell as the application makes it: our extension among others, the kernel's language. */
function cell(doc: string): EditorState {
  const extensions = [python(), history(), promptMode()];
  return EditorState.create({ doc, extensions });
}

function withLanguage(state: EditorState): EditorState {
  const prompt = promptLanguage(markdown({ base: markdownLanguage }));
  return state.update({ effects: addLanguage(prompt) }).state;
}

function typed(state: EditorState, from: number, to: number, insert: string): EditorState {
  return state.update({ changes: { from, to, insert } }).state;
}

function languageOf(state: EditorState): string | undefined {
  return state.facet(language)?.name;
}

function looksLikePrompt(state: EditorState): boolean {
  return state
    .facet(EditorView.editorAttributes)
    .some(attributes => typeof attributes !== 'function' && attributes.class === 'acp-mod-prompt');
}

test('a prompt cell gets the prompt language before the one of the kernel', () => {
  const state = withLanguage(cell('%%acp\nHello'));
  assert.equal(languageOf(state), 'acp-prompt');
  assert.equal(looksLikePrompt(state), true);
});

test('other cells keep the language of the kernel', () => {
  for (const source of ['print(1)', '%%bash\nls', '%acp agents']) {
    const state = withLanguage(cell(source));
    assert.equal(languageOf(state), 'python', source);
    assert.equal(looksLikePrompt(state), false, source);
  }
});

test('typing the magic makes a prompt and deleting it makes code again', () => {
  const start = withLanguage(cell('%%acx\nHello'));
  const prompt = typed(start, 4, 5, 'p');
  assert.equal(languageOf(prompt), 'acp-prompt');
  const code = typed(prompt, 0, 6, '');
  assert.equal(languageOf(code), 'python');
  assert.equal(looksLikePrompt(code), false);
});

test('a prompt looks like one before its language has arrived', () => {
  const state = typed(cell(''), 0, 0, '%%acp\n');
  assert.equal(looksLikePrompt(state), true);
  assert.equal(languageOf(state), 'python');
  assert.equal(languageOf(withLanguage(state)), 'acp-prompt');
});

test('changes inside a prompt do not configure the editor anew', () => {
  const state = withLanguage(cell('%%acp\nHello'));
  const transaction = state.update({ changes: { from: 6, insert: 'Oh. ' } });
  assert.equal(transaction.reconfigured, false);
});

test('switching leaves the undo history alone', () => {
  let state = typed(withLanguage(cell('x = 1')), 0, 0, '%%acp\n');
  const dispatch = (transaction: Transaction): void => {
    state = transaction.state;
  };
  assert.equal(undo({ state, dispatch }), true);
  assert.equal(state.doc.toString(), 'x = 1');
  assert.equal(languageOf(state), 'python');
  assert.equal(undo({ state, dispatch }), false);
});
