import type { Database, Tx } from '../db/index.ts';

/** Runs work in its own write or together with concurrent work. */
export type GroupCommit = <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;

const mostTogether = 64;

interface Waiting {
  work: (tx: Tx) => Promise<unknown>;
  resolve(result: never): void;
  reject(error: unknown): void;
}

/**
 * One sync to disk for all activities that arrived during the previous one. Each gets its response once its own rows
 * are durable. If one of them fails, the whole write is rolled back and each is repeated alone: so work must be
 * repeatable.
 */
export function createGroupCommit(db: Database): GroupCommit {
  const waiting: Waiting[] = [];
  let isRunning = false;

  async function writeTogether(some: readonly Waiting[]): Promise<void> {
    const results = await db.write(async (tx) => {
      const done: unknown[] = [];
      for (const { work } of some) done.push(await work(tx));
      return done;
    });
    for (const [index, { resolve }] of some.entries()) resolve(results[index] as never);
  }

  async function writeAlone({ work, resolve, reject }: Waiting): Promise<void> {
    await db.write(work).then((result) => resolve(result as never), reject);
  }

  async function run(): Promise<void> {
    isRunning = true;
    while (waiting.length > 0) {
      const some = waiting.splice(0, mostTogether);
      if (some.length === 1) await writeAlone(some[0]!);
      else {
        await writeTogether(some).catch(async () => {
          for (const each of some) await writeAlone(each);
        });
      }
    }
    isRunning = false;
  }

  return <T>(work: (tx: Tx) => Promise<T>) =>
    new Promise<T>((resolve, reject) => {
      waiting.push({ work, resolve, reject });
      if (!isRunning) void run();
    });
}
