/**
 * Writes the hash of the sources into the built extension.
 *
 * The Python build (hatch_build.py) computes the same hash and builds anew when they differ, so an
 * old build is never packed.
 */

import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';

const here = new URL('./', import.meta.url);

const sources = [
  'package.json',
  'tsconfig.json',
  'yarn.lock',
  ...['src', 'style'].flatMap(folder =>
    readdirSync(new URL(folder, here)).map(name => `${folder}/${name}`)
  )
].sort();

const hash = createHash('sha256');
for (const name of sources) {
  hash
    .update(`${name}\0`)
    .update(readFileSync(new URL(name, here)))
    .update('\0');
}
const { jupyterlab } = JSON.parse(readFileSync(new URL('package.json', here), 'utf8'));
writeFileSync(new URL(`${jupyterlab.outputDir}/sources.sha256`, here), `${hash.digest('hex')}\n`);
