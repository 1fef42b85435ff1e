import assert from 'node:assert/strict';
import test, { afterEach } from 'node:test';

import { place, setHidden } from './dom.js';
import { speak } from '../../../acp_notebook/widgets/static/speaking.js';

const shown = [];

class Notification {
  static permission = 'granted';

  constructor(title, { body }) {
    shown.push([title, body]);
  }
}

afterEach(() => {
  shown.length = 0;
  setHidden(false);
  delete globalThis.Notification;
});

test('a screen reader hears everything, a hidden page notifies of questions', () => {
  globalThis.Notification = Notification;
  const voice = place();
  speak(voice, { op: 'say', text: 'May I?', ask: true });
  assert.deepEqual([voice.textContent, shown], ['May I?', []]);
  setHidden(true);
  speak(voice, { op: 'say', text: 'Finished.' });
  assert.deepEqual([voice.textContent, shown], ['Finished.', []]);
  speak(voice, { op: 'say', text: 'May I?', ask: true });
  assert.deepEqual(shown, [['Jupyter', 'May I?']]);
});

test('without leave or without notifications it only speaks', () => {
  setHidden(true);
  const voice = place();
  speak(voice, { op: 'say', text: 'May I?', ask: true });
  globalThis.Notification = class extends Notification {
    static permission = 'denied';
  };
  speak(voice, { op: 'say', text: 'And this?', ask: true });
  assert.deepEqual([voice.textContent, shown], ['And this?', []]);
});
