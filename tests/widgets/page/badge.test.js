import assert from 'node:assert/strict';
import test from 'node:test';

import { setHidden } from './dom.js';
import { TitleBadge } from '../../../acp_notebook/widgets/static/badge.js';

test('the title of a hidden tab says that something waits', () => {
  const badge = new TitleBadge();
  badge.set(true);
  assert.equal(document.title, 'Notebook');
  setHidden(true);
  badge.update();
  badge.update();
  assert.equal(document.title, '(?) Notebook');
  document.title = 'Other';
  badge.tick();
  assert.equal(document.title, '(?) Other');
  badge.set(false);
  assert.equal(document.title, 'Other');
  badge.tick();
  assert.equal(document.title, 'Other');
  badge.set(true);
  setHidden(false);
  badge.update();
  assert.equal(document.title, 'Other');
});
