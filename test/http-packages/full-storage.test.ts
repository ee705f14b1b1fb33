// time limit: 300 s
// runs alone: for a moment, writes of its process find no space.
// A disk and a bucket that are full while something is published: each client is told so in its own form, nothing of it
// is there, and the next publish is taken. A small disk is filled where one can be mounted.
import t from 'tap';
import type { Test } from 'tap';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import disk, { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { hasTmpfs } from '../chaos/loop-device-disk.ts';
import { startFakeS3 } from '../fixtures/fake-s3-server.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { basic, digestOf, registry, startPackageServer } from './package-server.ts';
import type { Answer, PackageServer } from './package-server.ts';
import { contentOf, formats } from './publishing.ts';

const send = (to: PackageServer, what: string, name: string): Promise<Answer> => {
  const { method, target, headers, body } = formats[what]!.publish(name, '1.0.0');
  return to.send(method, target, { auth: basic(to.tokens.alice), headers, body });
};

const read = (from: PackageServer, what: string, name: string): Promise<Answer> =>
  from.send('GET', formats[what]!.file(name, '1.0.0'), { auth: basic(from.tokens.alice) });

const objectsOf = async ({ app }: PackageServer): Promise<string[]> => {
  const keys: string[] = [];
  for (const prefix of ['packages/', 'package-uploads/'])
    for await (const { key } of app.modules.objects.list(prefix)) keys.push(key);
  return keys.sort();
};

/** Makes the storage full, and returns what ends that. */
type Fill = () => Promise<() => void> | (() => void);

/** One publish in each format while the storage is full, and the same one afterwards. */
async function publishWhileFull(t: Test, server: PackageServer, how: string, said: RegExp, fill: Fill): Promise<void> {
  for (const [what, format] of Object.entries(formats)) {
    // Equal content would be stored once.
    const name = `${how}-${what}`;
    const before = await objectsOf(server);
    const end = await fill();
    let refused: Answer;
    try {
      refused = await send(server, what, name);
      t.equal((await read(server, what, name)).status, 404, `${what}: reading goes on, and finds nothing`);
    } finally {
      end();
    }
    t.equal(refused.status, 507, `${what}: ${refused.text}`);
    t.match(format.words(refused), said, what);
    t.strictSame(await objectsOf(server), before, `${what}: no object stays`);
    const { status, text } = await send(server, what, name);
    t.ok([200, 201].includes(status), `${what} again: ${status} ${text}`);
    t.ok((await read(server, what, name)).bytes.equals(contentOf(name, '1.0.0')), what);
  }
}

/** An upload in chunks whose second chunk, and then whose end, finds no space: it goes on where it was. */
async function uploadWhileFull(t: Test, server: PackageServer, name: string, said: RegExp, fill: Fill): Promise<void> {
  const alice = registry(server, server.tokens.alice);
  const [first, second] = [Buffer.alloc(30_000, `${name} 1`), Buffer.alloc(30_000, `${name} 2`)];
  const digest = digestOf(Buffer.concat([first, second]));
  const location = (await alice.call('POST', `/v2/alice/${name}/blobs/uploads/`)).headers.get('location')!;
  t.equal((await alice.call('PATCH', location, { body: first })).status, 202);
  for (const [method, target, body, there] of [
    ['PATCH', location, second, first.length],
    ['PUT', `${location}?digest=${digest}`, Buffer.alloc(0), first.length + second.length],
  ] as const) {
    const end = await fill();
    let refused: Answer;
    try {
      refused = await alice.call(method, target, { body });
    } finally {
      end();
    }
    t.equal(refused.status, 507, refused.text);
    t.match(refused.json.errors[0].message, said, method);
    t.equal((await alice.call('GET', `/v2/alice/${name}/blobs/${digest}`)).status, 404);
    if (method === 'PUT') break;
    t.equal((await alice.call('GET', location)).headers.get('range'), `0-${there - 1}`);
    t.equal((await alice.call(method, target, { body })).status, 202);
  }
  t.equal((await alice.call('GET', location)).headers.get('range'), `0-${first.length + second.length - 1}`);
  t.equal((await alice.call('PUT', `${location}?digest=${digest}`)).status, 201);
  t.ok((await alice.call('GET', `/v2/alice/${name}/blobs/${digest}`)).bytes.equals(Buffer.concat([first, second])));
}

const prototype = await open(import.meta.filename).then(async (handle) => {
  await handle.close();
  return Object.getPrototypeOf(handle) as FileHandle;
});

const noSpace = (code: string) =>
  Object.assign(new Error(`${code}: no space left on device, write`), { code, syscall: 'write' });

t.test('a disk that is full in the middle of an upload', async (t) => {
  const server = await startPackageServer(t);
  const { writeFile, sync } = prototype;
  const { mkdir } = disk;
  const restore = (): void => {
    Object.assign(prototype, { writeFile, sync });
    disk.mkdir = mkdir;
    syncBuiltinESMExports();
  };
  t.teardown(restore);
  const steps: Record<string, Fill> = {
    half: () => {
      prototype.writeFile = async function (this: FileHandle, data) {
        await writeFile.call(this, (data as Buffer).subarray(0, (data as Buffer).length / 2));
        throw noSpace('ENOSPC');
      };
      return restore;
    },
    quota: () => {
      prototype.writeFile = () => Promise.reject(noSpace('EDQUOT'));
      return restore;
    },
    synced: () => {
      prototype.sync = () => Promise.reject(noSpace('ENOSPC'));
      return restore;
    },
    folder: () => {
      disk.mkdir = ((folder: string, options: object) =>
        folder.includes('/objects/packages/') ? Promise.reject(noSpace('ENOSPC')) : mkdir(folder, options)) as never;
      syncBuiltinESMExports();
      return restore;
    },
  };
  for (const [name, fill] of Object.entries(steps)) {
    await publishWhileFull(t, server, name, /^The disk is full: nothing was stored\.$/, fill);
    // Chunks need no folder of the package.
    if (name !== 'folder') await uploadWhileFull(t, server, name, /^The disk is full: nothing was stored\.$/, fill);
  }
  t.strictSame(readdirSync(path.join(server.folder, 'data/objects/.incoming')), [], 'no half file');
});

t.test('a small disk, filled up', { skip: !hasTmpfs && 'no disk can be mounted' }, async (t) => {
  const dataDir = path.join(temporaryFolder(t), 'small');
  mkdirSync(dataDir, { mode: 0o700 });
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=32m,mode=700', 'none', dataDir]);
  t.teardown(() => execFileSync('umount', ['-l', dataDir]));
  const server = await startPackageServer(t, { SERVICE_DATA_DIR: dataDir, SERVICE_STORAGE_LOW_DISK_FLOOR: '0B' });
  const filler = path.join(dataDir, 'filler');
  const fill: Fill = () => {
    execFileSync('sh', ['-c', 'dd if=/dev/zero bs=4k of="$1" 2>/dev/null || true', 'sh', filler]);
    return () => rmSync(filler);
  };
  await publishWhileFull(t, server, 'small', /is full: nothing was (?:stored|changed)\./, fill);
  await uploadWhileFull(t, server, 'small', /is full: nothing was (?:stored|changed)\./, fill);
  t.strictSame(readdirSync(path.join(dataDir, 'objects/.incoming')), [], 'no half file');
});

t.test('a bucket that is full', async (t) => {
  const s3 = await startFakeS3(t);
  const server = await startPackageServer(t, { ...s3.env, SERVICE_OBJECTS_ATTEMPTS: '1' });
  for (const fault of ['full', 'quota'] as const) {
    const fill: Fill = () => {
      s3.fail('PUT', ...Array.from({ length: 20 }, () => fault));
      return () => s3.heal();
    };
    await publishWhileFull(t, server, fault, /^The file store is full\. Nothing was stored\.$/, fill);
    await uploadWhileFull(t, server, fault, /^The file store is full\. Nothing was stored\.$/, fill);
  }
  t.equal(s3.uploads.size, 0);
});
