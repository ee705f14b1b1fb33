// Removes files of a cache one by one, and folders in the middle of each step: what is read next, and later, is whole.
import t from 'tap';
import { readdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setInterval } from 'node:timers/promises';
import { localAdministrator } from '../../src/access/index.ts';
import { clientGit, gitSync, sampleRepository } from '../git/git-fixture.ts';
import { removeCaches, startStoreServer } from './store-server.ts';

t.setTimeout(240_000);

const sample = sampleRepository();
const server = await startStoreServer(t);
const url = await server.newRepository('roof');
const push = (...refs: string[]) => clientGit(['push', '--quiet', url, ...refs], { cwd: sample });
await push('main:refs/heads/main', '--tags');
const { id } = (await server.app.modules.repositories.find(localAdministrator, 'alice', 'roof')).repository;
const folder = path.join(server.caches, `${id}.git`);
const refs = await server.refsOf('roof');
const packFile = (ending: string): string => {
  const place = path.join(folder, 'objects', 'pack');
  return path.join(place, readdirSync(place).find((file) => file.endsWith(ending))!);
};
let clones = 0;

/** A clone through whatever the cache is now, checked. */
async function cloned(): Promise<string> {
  const target = path.join(server.folder, `clone-${(clones += 1)}`);
  const { code, stderr } = await clientGit(['clone', '--quiet', '--mirror', url, target]);
  if (code !== 0) return stderr;
  gitSync(['fsck', '--full', '--strict'], { cwd: target });
  return 'whole';
}

const parts: [what: string, remove: () => void][] = [
  ['the folder', () => rmSync(folder, { recursive: true, force: true })],
  ['all folders', () => removeCaches(server.caches)],
  ['config', () => rmSync(path.join(folder, 'config'), { force: true })],
  ['HEAD', () => rmSync(path.join(folder, 'HEAD'), { force: true })],
  ['packed-refs', () => rmSync(path.join(folder, 'packed-refs'), { force: true })],
  ['refs', () => rmSync(path.join(folder, 'refs'), { recursive: true, force: true })],
  ['objects', () => rmSync(path.join(folder, 'objects'), { recursive: true, force: true })],
  ['the folder of packs', () => rmSync(path.join(folder, 'objects', 'pack'), { recursive: true, force: true })],
  ['a pack', () => rmSync(packFile('.pack'))],
  ['an index', () => rmSync(packFile('.idx'))],
  ['the mark', () => rmSync(path.join(folder, 'hearth-cache.json'), { force: true })],
  [
    'everything but the mark',
    () => {
      for (const name of readdirSync(folder))
        if (name !== 'hearth-cache.json') rmSync(path.join(folder, name), { recursive: true, force: true });
    },
  ],
];

for (const [what, remove] of parts) {
  t.test(`without ${what}`, async (t) => {
    t.equal(await cloned(), 'whole', 'before');
    remove();
    t.equal(await cloned(), 'whole', 'read next');
    t.equal(await server.refsOf('roof'), refs);
    remove();
    const oid = gitSync(['commit-tree', 'main^{tree}', '-p', 'main', '-m', what], { cwd: sample });
    const pushed = await push(`${oid}:refs/heads/next`);
    t.equal(pushed.code, 0, pushed.stderr);
    t.equal(await cloned(), 'whole', 'after a push');
    t.equal((await push(':refs/heads/next')).code, 0);
  });
}

t.test('folders removed while they are created, followed, read and pushed to', async (t) => {
  const rounds = Number(process.env['HEARTH_CACHE_ROUNDS'] ?? 12);
  for (let round = 0; round < rounds; round += 1) {
    const oid = gitSync(['commit-tree', 'main^{tree}', '-p', 'main', '-m', `Round ${round}`], { cwd: sample });
    const pushing = push(`${oid}:refs/heads/busy-${round}`);
    const cloning = [cloned(), cloned()];
    let isBusy = true;
    const work = Promise.allSettled([pushing, ...cloning]).finally(() => (isBusy = false));
    let removal = 0;
    for await (const _tick of setInterval((round % 4) * 5 + 1)) {
      if (!isBusy || removal === 40) break;
      removal += 1;
      const gone = path.join(server.folder, `gone-${round}-${removal}`);
      try {
        if (removal % 2 === 0) renameSync(folder, gone);
        else renameSync(server.caches, gone);
      } catch {
        // It is not there at this moment.
      }
    }
    await work;
    t.equal(await cloned(), 'whole', `round ${round}`);
    const { code } = await pushing;
    const has = (await server.refsOf('roof')).includes(`${oid}\trefs/heads/busy-${round}`);
    t.ok(code !== 0 || has, 'an accepted push is there');
  }
});
