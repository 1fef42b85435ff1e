import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Text } from '@codemirror/state';

import { isPrompt } from '../src/prompt_text.js';

const prompts = [
  '%%acp',
  '%%acp\n',
  '%%acp --to claude\nHello',
  '%%acp\t\nHello',
  '\n  \n%%acp\nHello',
  '  %%acp\n  Hello'
];

const others = [
  '',
  '\n\n',
  'print(1)',
  '%acp prompt hello',
  '%%acpx\nHello',
  '%%acp?',
  '%%acp\tHello',
  '%%bash\n%%acp',
  '# %%acp\n',
  'x = 1\n%%acp\n',
  '%%ACP\nHello'
];

for (const source of prompts) {
  test(`${JSON.stringify(source)} is a prompt`, () => {
    assert.equal(isPrompt(Text.of(source.split('\n'))), true);
  });
}

for (const source of others) {
  test(`${JSON.stringify(source)} is not a prompt`, () => {
    assert.equal(isPrompt(Text.of(source.split('\n'))), false);
  });
}
