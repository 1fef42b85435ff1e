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
    files: ['*.mjs'],
    languageOptions: { globals: { process: 'readonly', URL: 'readonly' } }
  }
);
