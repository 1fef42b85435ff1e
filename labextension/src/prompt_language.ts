/**
 * The language of a prompt cell: the magic's line, then Markdown.
 *
 * Knows the editor's language support, not when a cell is a prompt.
 */

import { Language, LanguageSupport } from '@codemirror/language';
import { tags } from '@lezer/highlight';
import type { MarkdownConfig, MarkdownParser } from '@lezer/markdown';

/** Makes the magic's line a block of its own, before Markdown can read it as text or a heading. */
const magicLine: MarkdownConfig = {
  defineNodes: [{ name: 'MagicLine', block: true, style: tags.meta }],
  parseBlock: [
    {
      name: 'MagicLine',
      before: 'LinkReference',
      parse(context, line) {
        if (context.lineStart !== 0 || !line.text.trimStart().startsWith('%%')) {
          return false;
        }
        context.addElement(context.elt('MagicLine', 0, line.text.length));
        context.nextLine();
        return true;
      }
    }
  ]
};

/**
 * The application's own Markdown with the magic's line in front.
 *
 * Built on what the application registered, so fenced code and formulas look as they do in a
 * Markdown cell, and no second Markdown parser is shipped. A Markdown that cannot be extended is
 * returned as it is.
 */
export function promptLanguage(markdown: LanguageSupport): LanguageSupport {
  const { data, parser } = markdown.language;
  if (!isMarkdownParser(parser)) {
    return markdown;
  }
  const language = new Language(data, parser.configure(magicLine), [], 'acp-prompt');
  return new LanguageSupport(language, markdown.support);
}

function isMarkdownParser(parser: object): parser is MarkdownParser {
  return 'configure' in parser && 'parseInline' in parser;
}
