// steadyPushes({url, token, repositories, perSecond}) → a load of small pushes to growing branches until it is stopped.
// It speaks the protocol itself, because a git client costs more CPU time than the server.
import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { pushBytes, zeroId } from '../git/push-fixture.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const kinds = { commit: 1, tree: 2, blob: 3 };
type Kind = keyof typeof kinds;

const idOf = (kind: Kind, content: Buffer): string =>
  createHash('sha1').update(`${kind} ${content.length}\0`).update(content).digest('hex');

function packed(kind: Kind, content: Buffer): Buffer {
  const head = [];
  let size = content.length >> 4;
  let byte = (kinds[kind] << 4) | (content.length & 15);
  for (; size > 0; size >>= 7) {
    head.push(byte | 0x80);
    byte = size & 0x7f;
  }
  return Buffer.concat([Buffer.from([...head, byte]), deflateSync(content)]);
}

/** A commit with one file in it, and the pack with its three objects. */
function makeCommit(parent: string, text: string): { id: string; pack: Buffer } {
  const blob = Buffer.from(`${text}\n`);
  const tree = Buffer.concat([Buffer.from('100644 file.txt\0'), Buffer.from(idOf('blob', blob), 'hex')]);
  const person = 'alice <alice@example.org> 1750000000 +0000';
  const commit = Buffer.from(
    `tree ${idOf('tree', tree)}\n${parent === zeroId ? '' : `parent ${parent}\n`}author ${person}\ncommitter ${person}\n\n${text}\n`,
  );
  const head = Buffer.from('PACK\0\0\0\x02\0\0\0\x03', 'latin1');
  const body = Buffer.concat([head, packed('commit', commit), packed('tree', tree), packed('blob', blob)]);
  return { id: idOf('commit', commit), pack: Buffer.concat([body, createHash('sha1').update(body).digest()]) };
}

/** One branch and its pushed commits. */
export interface Branch {
  /** `alice/garden-1`. */
  repository: string;
  ref: string;
  /** Heads in order; those up to `acknowledged` were acknowledged. */
  heads: string[];
  acknowledged: number;
}

interface PushLoad {
  branches: Branch[];
  /** Runs `work` and returns how many pushes per second were acknowledged meanwhile. */
  during<T>(work: () => Promise<T>): Promise<{ result: T; perSecond: number }>;
  /** Pauses the load during `work`; waits for pushes in progress. */
  without<T>(work: () => Promise<T>): Promise<T>;
  /** Waits for pushes in progress. Fails when a push did. */
  stop(): Promise<void>;
}

interface PushLoadOptions {
  url: string;
  token: string;
  repositories: readonly string[];
  /** Branches in each. */
  branchesEach: number;
  perSecond: number;
}

export function startPushLoad({ url, token, repositories, branchesEach, perSecond }: PushLoadOptions): PushLoad {
  const branches: Branch[] = repositories.flatMap((repository) =>
    Array.from({ length: branchesEach }, (_, at) => ({
      repository,
      ref: `refs/heads/steady-${at}`,
      heads: [],
      acknowledged: 0,
    })),
  );
  const startedAt = performance.now();
  let isOver = false;
  let resumed: Promise<void> | null = null;
  let runningPushes = 0;
  let pushes = 0;

  async function push(branch: Branch): Promise<void> {
    const old = branch.heads.at(-1) ?? zeroId;
    const { id, pack } = makeCommit(old, `${branch.repository} ${branch.ref} ${branch.heads.length}`);
    branch.heads.push(id);
    const response = await fetch(`${url}/git/${branch.repository}.git/git-receive-pack`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`alice:${token}`).toString('base64')}`,
        'content-type': 'application/x-git-receive-pack-request',
      },
      body: pushBytes({
        commands: [`${old} ${id} ${branch.ref}`],
        capabilities: 'report-status object-format=sha1',
        pack,
      }) as Uint8Array<ArrayBuffer>,
    });
    const report = await response.text();
    if (!report.includes(`ok ${branch.ref}`)) throw new Error(`${response.status}: ${report}`);
    branch.acknowledged = branch.heads.length;
    pushes += 1;
  }

  const everyMs = (1000 / perSecond) * branches.length;
  const running = branches.map(async (branch, at) => {
    for (
      let due = startedAt + (everyMs * at) / branches.length;
      !isOver;
      due = Math.max(due + everyMs, performance.now() - everyMs)
    ) {
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())));
      while (resumed !== null) await resumed;
      if (isOver) break;
      runningPushes += 1;
      await push(branch).finally(() => (runningPushes -= 1));
    }
  });
  // A failure is reported by stop().
  for (const branch of running) branch.catch(() => {});
  return {
    branches,
    async during(work) {
      const [before, beganAt] = [pushes, performance.now()];
      const result = await work();
      return { result, perSecond: (pushes - before) / ((performance.now() - beganAt) / 1000) };
    },
    async without(work) {
      const { promise, resolve } = Promise.withResolvers<void>();
      resumed = promise;
      try {
        await waitUntil(() => runningPushes === 0);
        return await work();
      } finally {
        resumed = null;
        resolve();
      }
    },
    async stop() {
      isOver = true;
      await Promise.all(running);
    },
  };
}
