import { mkdir, open, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { nullIfAbsent } from '../files/index.ts';
import { conflict, createKeyedMutex, isProcessAlive } from '../kernel/index.ts';

const pollMs = 20;
const waitMs = 10 * 60_000;

/**
 * Runs work on a folder alone: in this process, and beside commands of the same machine that work on the same caches.
 * A lock whose process has ended is none.
 */
export function createFolderLocks() {
  const inTurn = createKeyedMutex();
  return <Result>(folder: string, work: () => Promise<Result>): Promise<Result> =>
    inTurn(folder, async () => {
      const lock = `${folder}.lock`;
      await mkdir(path.dirname(lock), { recursive: true, mode: 0o700 });
      const until = performance.now() + waitMs;
      while (!(await take(lock))) {
        if (performance.now() > until)
          throw conflict('repository_busy', 'This repository is being fetched from the store. Try again in a moment.');
        await sleep(pollMs);
      }
      try {
        return await work();
      } finally {
        await rm(lock, { force: true });
      }
    });
}

async function take(lock: string): Promise<boolean> {
  const handle = await open(lock, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') return null;
    throw error;
  });
  if (handle !== null) {
    await handle.writeFile(String(process.pid));
    await handle.close();
    return true;
  }
  const owner = Number(await readFile(lock, 'utf8').catch(nullIfAbsent));
  // Empty for the moment between the two calls above. One with the id of this process is of an earlier one: here, work
  // is done in turn.
  if (owner > 0 && (owner === process.pid || !isProcessAlive(owner))) await rm(lock, { force: true });
  return false;
}
