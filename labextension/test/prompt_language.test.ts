import assert from 'node:assert/strict';
import { test } from 'node:test';

import { markdown, markdownLanguage } from '@codemirror/lang-markdown';
import { python } from '@codemirror/lang-python';

import { promptLanguage } from '../src/prompt_language.js';

const prompt = promptLanguage(markdown({ base: markdownLanguage }));

/** The blocks of a prompt, as `Name(text)`. */
function blocks(source: string): string[] {
  const found: string[] = [];
  for (
    let node = prompt.language.parser.parse(source).topNode.firstChild;
    node;
    node = node.nextSibling
  ) {
    found.push(`${node.name}(${source.slice(node.from, node.to)})`);
  }
  return found;
}

test('the first line is the magic and the rest is Markdown', () => {
  assert.deepEqual(blocks('%%acp --to a\n# Title\n- one\n'), [
    'MagicLine(%%acp --to a)',
    'ATXHeading1(# Title)',
    'BulletList(- one)'
  ]);
});

test('text right below the magic is its own paragraph', () => {
  assert.deepEqual(blocks('%%acp\nHello *you*'), ['MagicLine(%%acp)', 'Paragraph(Hello *you*)']);
});

test('a rule below the magic does not make the magic a heading', () => {
  assert.deepEqual(blocks('%%acp\n---\n'), ['MagicLine(%%acp)', 'HorizontalRule(---)']);
});

test('an indented magic is not an indented code block', () => {
  assert.deepEqual(blocks('    %%acp\nHello'), ['MagicLine(    %%acp)', 'Paragraph(Hello)']);
});

test('a magic in the middle of a prompt is ordinary text', () => {
  assert.deepEqual(blocks('%%acp\n\n%%acp again'), ['MagicLine(%%acp)', 'Paragraph(%%acp again)']);
});

test('emphasis does not reach from the magic line into the text', () => {
  const tree = prompt.language.parser.parse('%%acp --out *x\nHello* you');
  assert.equal(tree.resolve(17, -1).name, 'Paragraph');
});

test('the prompt keeps what Markdown knows about its text, as the comment tokens', () => {
  assert.equal(prompt.language.data, markdownLanguage.data);
});

test('a language that is no Markdown is taken as it is', () => {
  const support = python();
  assert.equal(promptLanguage(support), support);
});
