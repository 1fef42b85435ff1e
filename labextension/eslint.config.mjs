import js from '@eslint/js';
import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

export default defineConfig(
  { ignores: ['lib/'] },
  js.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true } }
  },
  {
    files: ['test/**/*.ts'],
    // node:test runs what `test` registers; its promise is for tests inside tests.
    rules: { '@typescript-eslint/no-floating-promises': 'off' }
  },
  {
    // The page's modules, from the repository's root. TypeScript knows their names.
    files: ['acp_notebook/widgets/static/*.js'],
    rules: {
      complexity: ['error', 10],
      'no-undef': 'off',
      // They are joined into one, so that a name means the same in all of them.
      'no-restricted-syntax': [
        'error',
        'ImportDefaultSpecifier',
        'ImportNamespaceSpecifier',
        'ImportExpression',
        'ExportAllDeclaration',
        'ExportNamedDeclaration[declaration=null]'
      ]
    }
  },
  {
    files: ['tests/widgets/page/*.js'],
    languageOptions: {
      globals: {
        document: 'readonly',
        getSelection: 'readonly',
        navigator: 'readonly',
        process: 'readonly'
      }
    }
  },
  {
    files: ['*.mjs'],
    languageOptions: { globals: { process: 'readonly', URL: 'readonly' } }
  }
);
