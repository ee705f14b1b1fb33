// time limit: 180 s
// Imports on a disk without space: nothing half is seen, a line says what it waits for, and they go on when there is
// space again. git is a wrapper that answers as git does on a full disk; as root the disk is a small, real one.
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import type { Test } from 'tap';
import { hasTmpfs } from '../chaos/loop-device-disk.ts';
import { fixedClock } from '../fixtures/fixed-clock.ts';
import { freePort } from '../fixtures/free-port.ts';
import { startHearth } from '../fixtures/start-hearth.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { viewerOf } from '../pages/issues/issues-fixture.ts';
import { startGiteaStub } from './gitea-stub.ts';

t.setTimeout(160_000);

const run = promisify(execFile);

async function begin(t: Test, folder: string, env: Record<string, string>) {
  const port = await freePort();
  const forge = await startGiteaStub(t, { port, pageSize: 50 });
  forge.world.repository['private'] = false;
  forge.addComment(forge.addIssue({ title: 'First' }), 'A comment');
  const clock = fixedClock(Date.UTC(2026, 0, 1));
  const allowed = { SERVICE_MIRRORS_ALLOWED_HOSTS: `127.0.0.1:${port}` };
  const hearth = await startHearth(t, { folder, clock, env: { ...env, ...allowed } });
  const viewer = viewerOf((await hearth.addPerson('alice')).id, 'alice');
  const { imports, db } = hearth.modules;
  return {
    forge,
    clock,
    imports,
    viewer,
    async start(): Promise<string> {
      const address = `${forge.url}/bob/tool`;
      const { id } = await imports.start(viewer, { address, token: forge.world.token, name: 'tool' });
      await imports.runDue();
      return id;
    },
    find: async (id: string) => (await imports.find(id))!,
    /** What a person without an account is shown. */
    seen: async (): Promise<number> => (await fetch(`${hearth.url}/alice/tool`)).status,
    async titles(id: string): Promise<string[]> {
      const rows: { title: string }[] = await db.read.query(
        'SELECT title AS title FROM issues WHERE repository_id = ? ORDER BY number',
        [id],
      );
      return rows.map(({ title }) => title);
    },
  };
}

t.test('git finds no space', async (t) => {
  const folder = temporaryFolder(t);
  const [flag, wrapper] = [path.join(folder, 'full'), path.join(folder, 'git-on-a-full-disk')];
  writeFileSync(
    wrapper,
    `#!/bin/sh
if test -e '${flag}'; then
  case " $* " in
    *" fetch "*|*" index-pack "*|*" unpack-objects "*|*" update-ref "*)
      echo 'error: unable to write loose object file: No space left on device' >&2; exit 128;;
  esac
fi
exec git "$@"
`,
  );
  chmodSync(wrapper, 0o755);
  const { start, find, seen, titles, imports, viewer, clock } = await begin(t, folder, {
    SERVICE_GIT_PROGRAM: wrapper,
  });
  writeFileSync(flag, '');
  const id = await start();
  t.match(await find(id), { state: 'running', phase: 'refs', lastError: /disk of the server is full/ });
  t.equal(await seen(), 404, 'nothing half is seen');
  rmSync(flag);
  clock.advance(3_600_000);
  await imports.again(viewer, id, {});
  await imports.runDue();
  t.match(await find(id), { state: 'done', lastError: null, run: 1 });
  t.strictSame(await titles(id), ['First']);
  t.equal(await seen(), 200);
});

if (hasTmpfs)
  t.test('a small disk is filled up between two runs', async (t) => {
    const folder = temporaryFolder(t);
    const dataDir = path.join(folder, 'data');
    mkdirSync(dataDir, { mode: 0o700 });
    await run('mount', ['-t', 'tmpfs', '-o', 'size=40m,mode=700', 'none', dataDir]);
    t.teardown(() => run('umount', ['-l', dataDir]));
    const { forge, start, find, titles, imports, viewer, clock } = await begin(t, folder, {
      SERVICE_STORAGE_LOW_DISK_FLOOR: '0B',
    });
    const id = await start();
    t.match(await find(id), { state: 'done', lastError: null });
    const added = Array.from({ length: 30 }, (_, at) => `More ${at}`);
    for (const title of added) forge.addIssue({ title, body: `${title} `.repeat(2_000) });
    await imports.again(viewer, id, {}).catch(() => {});
    const filler = path.join(dataDir, 'filler');
    await run('sh', ['-c', `dd if=/dev/zero of='${filler}' bs=4k 2>/dev/null || true`]);
    t.equal(statfsSync(dataDir).bavail, 0);
    clock.advance(3_600_000);
    // Where not even the claim can be written, the next look comes later.
    t.match(await imports.runDue().catch((error: Error) => error.message), /is full|^\d$/);
    t.strictSame(await titles(id), ['First'], 'nothing half is there');
    rmSync(filler);
    clock.advance(3_600_000);
    await imports.again(viewer, id, {});
    await imports.runDue();
    t.match(await find(id), { state: 'done', lastError: null });
    t.strictSame((await titles(id)).toSorted(), ['First', ...added].toSorted());
  });
