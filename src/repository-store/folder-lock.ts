import { mkdir, open, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { nullIfAbsent } from '../files/index.ts';
import { conflict, createKeyedMutex, isProcessAlive } from '../kernel/index.ts';

const pollMs = 20;
const waitMs = 10 * 60_000;

/**
 * Runs work with exclusive access to a folder: within this process, and among commands of the same machine that use the
 * same caches. A lock whose process has ended is ignored.
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
          throw conflict(
            'repository_busy',
            'Hearth is fetching this repository from the store. Try again in a moment.',
          );
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
  // Empty between the two calls above. A lock with this process's id is from an earlier process, because work in this
  // one is serialised.
  if (owner > 0 && (owner === process.pid || !isProcessAlive(owner))) await rm(lock, { force: true });
  return false;
}
