// Two programs on one data folder: `hearth package gc` beside a server that takes uploads. Whatever step of one the
// other runs at, and wherever a collection dies: every version that was acknowledged has its content, no upload is told
// to wait, and nothing stays behind.
import { readdir, utimes } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { openModules } from '../../src/app/index.ts';
import { loadConfig } from '../../src/config/index.ts';
import { silentLogger } from '../../src/kernel/index.ts';
import { packageBlobPrefix, packageChunkPrefix } from '../../src/packages/index.ts';
import { fixedClock } from '../fixtures/fixed-clock.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { databaseSettings } from '../fixtures/test-postgres.ts';
import { sha256 } from '../http-packages/package-server.ts';

const dayMs = 86_400_000;
const folder = temporaryFolder(t);
const clock = fixedClock(Date.now());
const { config } = loadConfig({
  env: { SERVICE_DATA_DIR: path.join(folder, 'data'), ...(await databaseSettings(t, path.join(folder, 'data'))) },
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
await server.accounts.addPerson({ username: 'bob' });

async function* one(content: string): AsyncGenerator<Buffer> {
  yield Buffer.from(content);
}

const generic = (owner: string, name: string) =>
  server.packages.openForPublish(localAdministrator, { owner, format: 'generic', name });
const image = (owner: string, name: string) =>
  server.packages.openForPublish(localAdministrator, { owner, format: 'oci', name });

async function publish(owner: string, name: string, version: string, content: string): Promise<void> {
  const to = await generic(owner, name);
  const blob = await server.packages.blobs.receive(to.owner.id, one(content));
  await server.packages.versions.publish(localAdministrator, to, {
    version,
    metadata: {},
    files: [{ name: 'file', ...blob }],
    existing: 'refuse',
  });
}

/** Leaves a content of bob that nothing names any more and that is old enough to be collected. */
async function leaveOld(content: string): Promise<void> {
  const to = await generic('bob', 'old');
  await server.packages.blobs.receive(to.owner.id, one(content));
  await age();
}

const unlessGone = (error: NodeJS.ErrnoException): void => {
  if (error.code !== 'ENOENT') throw error;
};

/** Makes all content that is there three days older, rows and files. */
async function age(): Promise<void> {
  const before = clock.now() - 3 * dayMs;
  await server.db.write(({ manager }) =>
    manager.query('UPDATE package_blobs SET stored_at = ?, needed_at = ?', [before, before]),
  );
  for (const entry of await readdir(config.dataDir, { recursive: true, withFileTypes: true }))
    if (entry.isFile() && entry.parentPath.includes('/packages/'))
      // The other program may remove it meanwhile.
      await utimes(path.join(entry.parentPath, entry.name), before / 1000, before / 1000).catch(unlessGone);
}

/** The ways in which a content becomes one of bob. */
const ways: Readonly<Record<string, (content: string, version: string) => Promise<void>>> = {
  'a whole upload': (content, version) => publish('bob', 'kept', version, content),
  chunks: async (content, version) => {
    const to = await image('bob', `app/${version}`);
    const { uploads } = server.packages;
    const upload = await uploads.begin(localAdministrator, to);
    await uploads.receive(to, upload, { content: one(content.slice(0, 3)), first: 0 });
    await uploads.receive(to, await uploads.find(to, upload.id), { content: one(content.slice(3)), first: 3 });
    await uploads.finish(localAdministrator, to, upload, { algorithm: 'sha256', hex: sha256(content) });
  },
  'a mount': async (content, version) => {
    const digest = { algorithm: 'sha256', hex: sha256(content) } as const;
    const from = await image('alice', `from/${version}`);
    await server.packages.blobs.upload(localAdministrator, from, digest, one(content));
    // Found as a package of its own, with a version.
    await server.packages.versions.publish(localAdministrator, from, {
      version: `sha256:${sha256(`manifest ${version}`)}`,
      metadata: {},
      files: [{ name: 'layer', sha256: digest.hex, bytes: content.length }],
      existing: 'keep',
    });
    const at = { owner: 'alice', format: 'oci', name: `from/${version}` } as const;
    const source = await server.packages.find(localAdministrator, at);
    // The object that is linked is older than any upload.
    await age();
    const to = await image('bob', `app/${version}`);
    if (!(await server.packages.blobs.mount(localAdministrator, to, source, digest))) throw new Error('not mounted');
  },
};

const steps = ['link', 'stat', 'remove', 'get', 'put', 'write'] as const;

/**
 * Calls something before the given step of a program: a call of its store, or a write of its database.
 * @returns how many steps it made, and the end of watching
 */
function interruptAt({ objects, db }: Program, step: number, interrupt: () => Promise<void>) {
  let [made, isBusy] = [0, false];
  const originals = new Map<string, unknown>();
  const wrap = (target: object, name: string): void => {
    const methods = target as Record<string, (...args: unknown[]) => Promise<unknown>>;
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
  };
  for (const name of steps) wrap(name === 'write' ? db : objects, name);
  return {
    made: () => made,
    end: () => {
      for (const name of steps) Object.assign(name === 'write' ? db : objects, { [name]: originals.get(name) });
    },
  };
}

/** Keys of rows whose object is absent, and of objects without a row. */
async function disagreements(): Promise<{ lost: string[]; left: string[] }> {
  const rows: { owner_id: string; sha256: string; object_name: string | null }[] = await server.db.read.query(
    'SELECT owner_id, sha256, object_name FROM package_blobs',
  );
  const named = rows.map((row) => `${packageBlobPrefix}${row.owner_id}/${row.object_name ?? row.sha256}`);
  const stored: string[] = [];
  for (const prefix of [packageBlobPrefix, packageChunkPrefix])
    for await (const { key } of server.objects.list(prefix)) stored.push(key);
  return {
    lost: named.filter((key) => !stored.includes(key)),
    left: stored.filter((key) => !named.includes(key)),
  };
}

async function contentOfBob(content: string): Promise<string> {
  const { id } = (await server.owners.resolve('bob'))!;
  return String(await server.packages.blobs.content(id, sha256(content), 1000));
}

for (const [way, bring] of Object.entries(ways)) {
  t.test(`${way}, with a collection at every step of it`, async (t) => {
    for (let step = 0, last = 1; step < last; step += 1) {
      const content = `${way} ${step}, interrupted by a collection`;
      await leaveOld(content);
      let collected = 0;
      const watched = interruptAt(server, step, async () => {
        collected += (await command.packages.collect()).blobs;
      });
      await bring(content, `c${step}`);
      watched.end();
      last = watched.made();
      t.equal(await contentOfBob(content), content, `step ${step} of ${last}, ${collected} collected`);
      t.strictSame((await disagreements()).lost, []);
    }
  });

  t.test(`a collection, with ${way} at every step of it`, async (t) => {
    for (let step = 0, last = 1; step < last; step += 1) {
      const content = `a collection interrupted at ${step} by ${way}`;
      await leaveOld(content);
      const watched = interruptAt(command, step, () => bring(content, `d${step}`));
      await command.packages.collect();
      watched.end();
      last = watched.made();
      t.equal(await contentOfBob(content), content, `step ${step} of ${last}`);
      t.strictSame((await disagreements()).lost, []);
    }
  });
}

t.test('a collection that dies at any step holds up no upload, and leaves nothing', async (t) => {
  let hasDied = true;
  for (let step = 0; hasDied; step += 1) {
    const content = `a collection that dies at ${step}`;
    await leaveOld(content);
    const watched = interruptAt(command, step, () => Promise.reject(new Error('killed')));
    hasDied = await command.packages.collect().then(
      () => false,
      () => true,
    );
    watched.end();
    await publish('bob', 'kept', `e${step}`, content);
    t.equal(await contentOfBob(content), content, `step ${step}, ${hasDied ? 'killed' : 'ended'}`);
  }
  clock.advance(3 * dayMs);
  await command.packages.collect();
  t.strictSame(await disagreements(), { lost: [], left: [] });
});

t.test('two uploads of one content at once leave one object', async (t) => {
  await leaveOld('by both');
  await Promise.all([publish('bob', 'both', '1', 'by both'), publish('bob', 'both', '2', 'by both')]);
  await Promise.all([publish('bob', 'both', '3', 'new'), publish('bob', 'both', '4', 'new')]);
  t.strictSame(await disagreements(), { lost: [], left: [] });
  t.strictSame(await Promise.all(['by both', 'new'].map(contentOfBob)), ['by both', 'new']);
});

t.test('content that was lost is there again after the next upload of it', async (t) => {
  await publish('bob', 'lost', '1', 'lost');
  for await (const { key } of server.objects.list(packageBlobPrefix))
    if (key.includes(sha256('lost'))) await server.objects.remove(key);
  t.equal((await disagreements()).lost.length, 1);
  await publish('bob', 'lost', '2', 'lost');
  t.strictSame(await disagreements(), { lost: [], left: [] });
  t.equal(await contentOfBob('lost'), 'lost');
});
