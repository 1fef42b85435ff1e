/**
 * The plugin: wires the prompt mode into the editors of code cells.
 *
 * Knows JupyterLab's registries; what a prompt is and looks like is decided in the other modules.
 */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import type { CodeEditor } from '@jupyterlab/codeeditor';
import {
  EditorExtensionRegistry,
  IEditorExtensionRegistry,
  IEditorLanguageRegistry
} from '@jupyterlab/codemirror';
import type { Extension } from '@codemirror/state';

import { promptLanguage } from './prompt_language.js';
import { languageLoader, promptMode } from './prompt_mode.js';

/** The name of Jupyter's Markdown, with formulas and highlighted fenced code. */
const JUPYTER_MARKDOWN = 'ipythongfm';

const promptCells: JupyterFrontEndPlugin<void> = {
  id: 'acp-notebook:prompt-cells',
  description: 'Edits %%acp cells as prompts: Markdown below the magic line.',
  autoStart: true,
  requires: [IEditorExtensionRegistry, IEditorLanguageRegistry],
  activate: (
    _app: JupyterFrontEnd,
    extensions: IEditorExtensionRegistry,
    languages: IEditorLanguageRegistry
  ) => {
    const language = loadLanguage(languages);
    extensions.addExtension({
      name: promptCells.id,
      factory: ({ model }) =>
        isCodeCell(model)
          ? EditorExtensionRegistry.createImmutableExtension([
              promptMode(),
              languageLoader(language)
            ])
          : null
    });
  }
};

/** A prompt without its colours is still a prompt: a failure is reported, and plain text shown. */
async function loadLanguage(languages: IEditorLanguageRegistry): Promise<Extension> {
  try {
    const markdown = await languages.getLanguage(JUPYTER_MARKDOWN);
    return markdown?.support ? promptLanguage(markdown.support) : [];
  } catch (error) {
    console.error('acp-notebook: %%acp cells are not highlighted, Markdown did not load.', error);
    return [];
  }
}

/** Files, Markdown cells and raw cells may start with `%%acp` too; no kernel would run that. */
function isCodeCell(model: CodeEditor.IModel): boolean {
  return 'type' in model && model.type === 'code';
}

export default promptCells;
