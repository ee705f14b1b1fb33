// time limit: 240 s
// What a push of very many refs costs the main thread: in proportion to its length, in short turns, and nothing
// afterwards. HEARTH_REFS sets the largest length.
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { encodePacket, flushPacket } from '../../src/git/index.ts';
import { runGit } from '../fixtures/git-repositories.ts';
import { startHearth } from '../fixtures/start-hearth.ts';
import type { Hearth, TestPerson } from '../fixtures/start-hearth.ts';
import { mainThreadMs, measureTurns } from '../fixtures/thread-cpu.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const longest = Number(process.env['HEARTH_REFS'] ?? 10_000);
const lengths = [longest / 100, longest / 10, longest] as const;
/** What a page may cost after such a push; the measurement is good to a tenth. */
const mostAfter = 1.3;
const zeros = '0'.repeat(40);
const emptyPack = (() => {
  const head = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1');
  return Buffer.concat([head, createHash('sha1').update(head).digest()]);
})();

/** A push of new refs with an empty pack. */
const bodyOf = (refs: readonly string[], newId: string): Buffer =>
  Buffer.concat([
    ...refs.map((ref, at) =>
      encodePacket(`${zeros} ${newId} ${ref}${at === 0 ? '\0 report-status side-band-64k atomic' : ''}`),
    ),
    flushPacket,
    emptyPack,
  ]);

interface World extends Hearth {
  alice: TestPerson;
  tip: string;
  send(name: string, body: Buffer): Promise<string>;
  get(url: string): Promise<number>;
}

async function openWorld(): Promise<World> {
  const hearth = await startHearth(t, {
    env: {
      SERVICE_FEDERATION_ENABLED: 'true',
      SERVICE_FEDERATION_BASE_URL: 'http://127.0.0.1:9',
      SERVICE_FEDERATION_DEV_ALLOW_INSECURE: 'true',
    },
  });
  const alice = await hearth.addPerson('alice');
  const cwd = path.join(hearth.folder, 'work');
  mkdirSync(cwd);
  await runGit(['init', '--quiet', '-b', 'main'], { cwd });
  await runGit(['commit', '--quiet', '--allow-empty', '-m', 'One'], { cwd });
  const tip = (await runGit(['rev-parse', 'main'], { cwd })).trim();
  const headers = { Authorization: `Bearer ${alice.token}` };
  for (const length of [...lengths, 'ruled', 'other']) {
    const body = JSON.stringify({ name: `r${length}`, visibility: 'public' });
    await fetch(`${hearth.url}/api/v1/repos`, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json' },
      body,
    });
    const url = `${hearth.url}/git/alice/r${length}.git`;
    await runGit(['-c', `http.extraHeader=Authorization: Bearer ${alice.token}`, 'push', '--quiet', url, 'main'], {
      cwd,
    });
  }
  return {
    ...hearth,
    alice,
    tip,
    async send(name, body) {
      const response = await fetch(`${hearth.url}/git/alice/${name}.git/git-receive-pack`, {
        method: 'POST',
        headers: { ...headers, 'Content-Type': 'application/x-git-receive-pack-request' },
        body: new Uint8Array(body),
      });
      const text = Buffer.from(await response.arrayBuffer()).toString('latin1');
      await waitUntil(async () => !(await isUnannounced(hearth)));
      return text;
    },
    async get(url) {
      const response = await fetch(hearth.url + url, { headers: { Cookie: `hearth_session=${alice.session}` } });
      await response.arrayBuffer();
      return response.status;
    },
  };
}

const isUnannounced = async ({ modules }: Hearth): Promise<boolean> =>
  (await modules.db.read.query('SELECT 1 FROM pushes WHERE announced_at IS NULL LIMIT 1')).length > 0;

const branches = (count: number, folder: string): string[] =>
  Array.from({ length: count }, (_, n) => `refs/heads/${folder}/${String(n).padStart(6, '0')}`);

/** Nearly all: some words are cut apart by the packets of the side band. */
const expectAll = (t: Test, report: string, verdict: 'ok' | 'ng', count: number): void =>
  void t.ok((report.match(new RegExp(`${verdict} refs`, 'g')) ?? []).length >= count * 0.9);

const world = await openWorld();

/** Checks that ten times the length takes at most fifteen times the work, in short turns. */
async function expectLinear(
  t: Test,
  bodyFor: (length: number) => Buffer,
  send: (length: number, body: Buffer) => Promise<string>,
  expect: (report: string, length: number) => void,
): Promise<void> {
  const found: { cpuMs: number; longestMs: number }[] = [];
  for (const length of lengths) {
    const body = bodyFor(length);
    let report = '';
    found.push(await measureTurns(async () => void (report = await send(length, body))));
    expect(report, length);
  }
  const [, tenth, whole] = found;
  const told = found.map(({ cpuMs, longestMs }) => `${cpuMs.toFixed(0)} ms (${longestMs.toFixed(0)})`).join(', ');
  t.ok(whole!.cpuMs < 15 * Math.max(tenth!.cpuMs, 10), `CPU time and longest turn: ${told}`);
  t.ok(whole!.longestMs < mainThreadMs, told);
}

// The compiler is warm, so that the shortest is no longer than it has to be.
await world.send('rother', bodyOf(branches(1_000, 'warm'), world.tip));

const largest = `/repos/alice/r${longest}`;
const pages = ['/', '/repos/alice/rother', largest, `${largest}/commits/main`, `${largest}/compare`] as const;
let views = 0;

/** Each page several times, made anew; the least of some rounds: collecting garbage falls into the others. */
const costOfPages = async (): Promise<Record<string, number>> => {
  const costs: Record<string, number> = {};
  for (let round = 0; round < 6; round += 1)
    for (const url of pages) {
      const { cpuMs } = await measureTurns(async () => {
        for (let n = 0; n < 10; n += 1) {
          views += 1;
          if ((await world.get(`${url}?n=${views}`)) !== 200) throw new Error(url);
        }
      });
      costs[url] = Math.min(costs[url] ?? Infinity, cpuMs);
    }
  return costs;
};
const before = await costOfPages();

t.test('new branches, announced to all listeners', async (t) => {
  await expectLinear(
    t,
    (length) => bodyOf(branches(length, 'b'), world.tip),
    (length, body) => world.send(`r${length}`, body),
    (report, length) => expectAll(t, report, 'ok', length),
  );
});

t.test('home and pages of repositories cost afterwards what they did before', async (t) => {
  const after = await costOfPages();
  for (const url of pages) {
    const told = `${url}: ${before[url]!.toFixed(1)} ms before, ${after[url]!.toFixed(1)} ms after`;
    t.comment(told);
    t.ok(after[url]! < mostAfter * before[url]! + 10, told);
  }
});

t.test('commands that are all refused', async (t) => {
  for (const [folder, what] of [
    ['refs/pull/1/', "the server's own refs"],
    ['refs/for/', 'very many for review'],
    ['refs/heads/-', 'names that are not taken'],
  ] as const)
    await t.test(what, async (t) => {
      const refs = (length: number) => Array.from({ length }, (_, n) => `${folder}${String(n).padStart(6, '0')}`);
      await expectLinear(
        t,
        (length) => bodyOf(refs(length), world.tip),
        (length, body) => world.send(`r${length}`, body),
        (report, length) => expectAll(t, report, 'ng', length),
      );
    });
});

t.test('branches under a rule for linear history', async (t) => {
  const any = { level: 'write' as const, people: [], tasks: false };
  await world.modules.repositories.rules.add(localAdministrator, 'alice', 'rruled', {
    target: 'BRANCH',
    pattern: 'l*/**',
    linear: true,
    grants: { push: any, force: any, create: any, delete: any },
  } as never);
  await expectLinear(
    t,
    (length) => bodyOf(branches(length / 10, `l${length}`), world.tip),
    (_length, body) => world.send('rruled', body),
    (report, length) => expectAll(t, report, 'ok', length / 10),
  );
});
