import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Random } from '../kernel/index.ts';

const fileName = 'node-id';

/**
 * The name of the node of a data folder; made when it has none. It stays over restarts, so that a server that was
 * killed finds what it has left.
 */
export function nodeIdOf(dataDir: string, random: Random): string {
  const file = path.join(dataDir, fileName);
  for (;;) {
    const found = readIfThere(file);
    if (found !== null) return found;
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    try {
      writeFileSync(file, `${random.uuid()}\n`, { flag: 'wx', mode: 0o600 });
    } catch (error) {
      // Another process of this folder was faster, or left a file that it did not fill.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      if (readIfThere(file) === null) writeFileSync(file, `${random.uuid()}\n`, { mode: 0o600 });
    }
  }
}

function readIfThere(file: string): string | null {
  try {
    const id = readFileSync(file, 'utf8').trim();
    return /^[0-9a-zA-Z-]{1,64}$/.test(id) ? id : null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
