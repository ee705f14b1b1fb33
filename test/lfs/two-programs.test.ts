// Two programs on one data folder: `hearth lfs gc`, or an import, beside a server that takes uploads. Whatever step of
// one the other runs at: an upload that was acknowledged has its object, one that is told to come again finds its way
// then, and nothing stays behind.
import { createHash } from 'node:crypto';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { openModules } from '../../src/app/index.ts';
import { loadConfig } from '../../src/config/index.ts';
import { isDomainError, silentLogger } from '../../src/kernel/index.ts';
import { lfsKey, lfsPrefix } from '../../src/lfs/index.ts';
import { fixedClock } from '../fixtures/fixed-clock.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { databaseSettings } from '../fixtures/test-postgres.ts';

const dayMs = 86_400_000;
const folder = temporaryFolder(t);
const clock = fixedClock(Date.now());
const { config } = loadConfig({
  env: {
    SERVICE_DATA_DIR: path.join(folder, 'data'),
    SERVICE_LFS_REPOSITORY_QUOTA: '1MiB',
    ...(await databaseSettings(t, path.join(folder, 'data'))),
  },
  argvOverrides: {},
  cwd: folder,
  readFile: () => '',
});
const open = (migrate: 'always' | 'when-new') => openModules(config, { logger: silentLogger, clock }, migrate);
const server = await open('always');
t.teardown(() => server.close());
const command = await open('when-new');
t.teardown(() => command.close());
type Program = typeof server;

await server.accounts.addPerson({ username: 'alice' });
await server.repositories.create(localAdministrator, { owner: 'alice', name: 'studio', visibility: 'PRIVATE' });
await server.repositories.create(localAdministrator, { owner: 'alice', name: 'full', visibility: 'PRIVATE' });
const studio = await server.lfs.open(localAdministrator, { owner: 'alice', name: 'studio' }, 'upload');
const full = await server.lfs.open(localAdministrator, { owner: 'alice', name: 'full' }, 'upload');

async function* one(content: Buffer): AsyncGenerator<Buffer> {
  yield content;
}

const objectOf = (text: string | Buffer) => {
  const content = Buffer.from(text);
  const oid = createHash('sha256').update(content).digest('hex');
  return { oid, bytes: content.length, content: one(content) };
};

const upload = (content: string, to = studio): Promise<void> =>
  server.lfs.receive(localAdministrator, to, objectOf(content));

async function collect(): Promise<void> {
  for await (const { problem } of command.lfs.gc.scan({ removes: true }))
    if (problem !== null) throw new Error(problem);
}

/** Leaves an object that no file names and that is due. */
async function leaveDue(content: string): Promise<void> {
  await upload(content);
  await server.db.write(({ manager }) =>
    manager.query('UPDATE lfs_objects SET unreferenced_since = 1, seen_at = 1 WHERE oid = ?', [objectOf(content).oid]),
  );
}

const steps = ['link', 'stat', 'remove', 'get', 'put', 'write'] as const;

/**
 * Calls something before the given step of a program: a call of its store, or a write of its database.
 * @returns how many steps it made, and the end of watching
 */
function interruptAt({ objects, db }: Program, step: number, interrupt: () => Promise<void>) {
  let [made, isBusy] = [0, false];
  const originals = new Map<string, unknown>();
  for (const name of steps) {
    const target = name === 'write' ? db : objects;
    const methods = target as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
    const original = methods[name]!;
    originals.set(name, original);
    methods[name] = async (...args) => {
      if (!isBusy && made++ === step) {
        isBusy = true;
        await interrupt();
        isBusy = false;
      }
      return original.apply(target, args);
    };
  }
  return {
    made: () => made,
    end: () => {
      for (const name of steps) Object.assign(name === 'write' ? db : objects, { [name]: originals.get(name) });
    },
  };
}

/** Whether an upload was acknowledged; false where it is told to come again. */
async function isTaken(work: Promise<void>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (isDomainError(error) && ['lfs_object_removing', 'lfs_object_gone'].includes(error.reason)) return false;
    throw error;
  }
}

async function contentOf(content: string, { repository } = studio): Promise<string | null> {
  const row = await server.lfs.describe({ repository }, objectOf(content).oid).catch(() => null);
  return row === null ? null : String(await buffer((await server.lfs.read(row)).stream));
}

/** Keys of rows whose object is absent, and of objects without a row. */
async function disagreements(): Promise<{ lost: string[]; left: string[] }> {
  const rows: { repository_id: string; oid: string }[] = await server.db.read.query(
    'SELECT repository_id, oid FROM lfs_objects WHERE removing_at IS NULL',
  );
  const named = rows.map((row) => lfsKey(row.repository_id, row.oid));
  const stored: string[] = [];
  for await (const { key } of server.objects.list(lfsPrefix)) stored.push(key);
  return {
    lost: named.filter((key) => !stored.includes(key)),
    left: stored.filter((key) => !named.includes(key)),
  };
}

t.test('an upload of what is there, with a collection while its content comes', async (t) => {
  const content = 'there, and due';
  await leaveDue(content);
  const object = objectOf(content);
  async function* interrupted(): AsyncGenerator<Buffer> {
    await collect();
    yield Buffer.from(content);
  }
  const taken = await isTaken(server.lfs.receive(localAdministrator, studio, { ...object, content: interrupted() }));
  if (!taken) await upload(content);
  t.equal(await contentOf(content), content);
  await leaveDue('there, and due, and wanted');
  await upload('there, and due, and wanted');
  await collect();
  t.equal(await contentOf('there, and due, and wanted'), 'there, and due, and wanted', 'an upload ends its time');
  t.strictSame((await disagreements()).lost, []);
});

t.test('an upload of what is being removed, with the end of the removal at every step of it', async (t) => {
  for (let step = 0, last = 1; step < last; step += 1) {
    const content = `upload ${step}, beside a removal`;
    await leaveDue(content);
    const { oid } = objectOf(content);
    await server.db.write(({ manager }) =>
      manager.query('UPDATE lfs_objects SET removing_at = ? WHERE oid = ?', [clock.now() - dayMs, oid]),
    );
    const watched = interruptAt(server, step, collect);
    const taken = await isTaken(upload(content));
    watched.end();
    last = Math.max(last, watched.made());
    if (!taken) {
      await collect();
      await upload(content);
    }
    t.equal(await contentOf(content), content, `step ${step} of ${last}, ${taken ? 'taken' : 'taken then'}`);
    t.strictSame((await disagreements()).lost, []);
  }
});

t.test('a collection, with an upload at every step of it', async (t) => {
  for (let step = 0, last = 1; step < last; step += 1) {
    const content = `a collection interrupted at ${step}`;
    await leaveDue(content);
    let taken = false;
    const watched = interruptAt(command, step, async () => {
      taken = await isTaken(upload(content));
    });
    await collect();
    watched.end();
    last = Math.max(last, watched.made());
    if (!taken) await upload(content);
    t.equal(await contentOf(content), content, `step ${step} of ${last}, ${taken ? 'taken' : 'taken then'}`);
    t.strictSame((await disagreements()).lost, []);
  }
});

t.test('the removal of what has no row, with an upload at every step of it', async (t) => {
  for (let step = 0, last = 1; step < last; step += 1) {
    const content = `no row ${step}`;
    await upload(content);
    await server.db.write(({ manager }) => manager.query('DELETE FROM lfs_objects'));
    clock.advance(3 * dayMs);
    let taken = false;
    const watched = interruptAt(command, step, async () => {
      taken = await isTaken(upload(content));
    });
    await command.lfs.gc.removeOrphans();
    watched.end();
    last = Math.max(last, watched.made());
    if (!taken) await upload(content);
    t.equal(await contentOf(content), content, `step ${step} of ${last}`);
    t.strictSame((await disagreements()).lost, []);
  }
});

t.test('an upload that is refused, with an import of its object at every step of it', async (t) => {
  for (let step = 0, last = 1; step < last; step += 1) {
    const content = `refused ${step}`;
    const { repository } = full;
    const filler = objectOf(Buffer.alloc(1024 * 1024, `${step} `));
    const watched = interruptAt(server, 1, async () => {
      await command.lfs.mirroring.store(repository, filler, { hasQuota: false });
    });
    let hasImported = false;
    const second = interruptAt(server, step, async () => {
      hasImported = true;
      await command.lfs.mirroring.store(repository, objectOf(content), { hasQuota: false });
    });
    const refused = await upload(content, full).catch((error: { reason?: string }) => error.reason);
    second.end();
    watched.end();
    last = Math.max(last, second.made());
    t.ok(refused === 'lfs_quota' || refused === undefined, String(refused));
    t.equal(
      await contentOf(content, full),
      hasImported || refused === undefined ? content : null,
      `step ${step} of ${last}`,
    );
    t.strictSame(await disagreements(), { lost: [], left: [] });
    await server.db.write(({ manager }) => manager.query('DELETE FROM lfs_objects WHERE oid = ?', [filler.oid]));
    await server.objects.remove(lfsKey(repository.id, filler.oid));
  }
});

t.test('nothing is left', async (t) => {
  clock.advance(3 * dayMs);
  await command.lfs.gc.removeOrphans();
  t.strictSame(await disagreements(), { lost: [], left: [] });
});
