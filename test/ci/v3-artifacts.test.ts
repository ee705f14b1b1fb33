// Files inside artifacts: listing and single downloads, archives that would harm, and test reports.
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { crc32, deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import t from 'tap';
import { run as readJunit } from '../../src/ci/reports/junit-task.ts';
import { openZipEntry, readZipDirectory, writeZip } from '../../src/files/index.ts';
import type { ReadPart } from '../../src/files/index.ts';
import { openCi, reasonOf, workflow } from './ci-fixture.ts';

t.setTimeout(120_000);

const limits = { maxDirectoryBytes: 1024 * 1024, maxEntries: 100 };
const partsOf =
  (archive: Buffer): ReadPart =>
  async (at, bytes) =>
    Readable.from([archive.subarray(at, at + bytes)]);

interface Entry {
  name: string;
  content?: Buffer;
  /** What the headers say, where that is not the truth. */
  bytes?: number;
  crc?: number;
  method?: number;
  flags?: number;
}

/** An archive that says what a test wants it to say. */
function forge(entries: readonly Entry[], { comment = '' } = {}): Buffer {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const { name, content = Buffer.alloc(0), flags = 0x0800, ...said } of entries) {
    const packed = deflateRawSync(content);
    const path = Buffer.from(name);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(flags, 2);
    fields.writeUInt16LE(said.method ?? 8, 4);
    fields.writeUInt32LE(said.crc ?? crc32(content), 10);
    fields.writeUInt32LE(packed.length, 14);
    fields.writeUInt32LE(said.bytes ?? content.length, 18);
    fields.writeUInt16LE(path.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), fields, path, packed]);
    const offset = Buffer.alloc(14);
    offset.writeUInt32LE(at, 10);
    directory.push(Buffer.from('PK\x01\x02\x14\x00', 'latin1'), fields, offset, path);
    locals.push(local);
    at += local.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 0, 'latin1');
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(at, 16);
  end.writeUInt16LE(comment.length, 20);
  return Buffer.concat([...locals, listed, end, Buffer.from(comment)]);
}

const contentOf = async (archive: Buffer, path: string): Promise<string> => {
  const { entries } = await readZipDirectory(archive.length, partsOf(archive), limits);
  if (!entries.some((one) => one.path === path)) return '';
  return (await buffer(await openZipEntry(entries.find((one) => one.path === path)!, partsOf(archive)))).toString();
};

t.test('whatever was packed is listed and read again', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(
        fc.tuple(fc.stringMatching(/^[a-z]{1,8}(\/[a-z ü]{1,8}){0,3}$/), fc.uint8Array({ maxLength: 3_000 })),
        {
          selector: ([path]) => path,
          maxLength: 8,
        },
      ),
      async (files) => {
        const archive = await buffer(
          writeZip(
            files.map(([path, content]) => ({
              path,
              bytes: content.length,
              isGzipped: false,
              open: async () => Readable.from([Buffer.from(content)]),
            })),
          ),
        );
        const { entries, refused } = await readZipDirectory(archive.length, partsOf(archive), limits);
        t.equal(refused, 0);
        t.strictSame(
          entries.map(({ path, bytes }) => [path, bytes]),
          files.map(([path, content]) => [path, content.length]),
        );
        for (const [at, entry] of entries.entries())
          t.ok((await buffer(await openZipEntry(entry, partsOf(archive)))).equals(Buffer.from(files[at]![1])));
      },
    ),
    { numRuns: 20 },
  );
});

t.test('paths that leave a folder, encrypted files and unknown methods are left out', async (t) => {
  const content = Buffer.from('x');
  const bad = [
    '../etc/passwd',
    '/etc/passwd',
    'a/../../b',
    'C:/x',
    'a\\b',
    'a//b',
    './a',
    'nul\0l',
    'a\nb',
    `${'x'.repeat(1025)}`,
  ];
  const archive = forge([
    { name: 'fine.txt', content },
    { name: 'folder/' },
    ...bad.map((name) => ({ name, content })),
    { name: 'secret', content, flags: 0x0801 },
    { name: 'lzma', content, method: 14 },
  ]);
  const { entries, refused } = await readZipDirectory(archive.length, partsOf(archive), limits);
  t.strictSame(
    entries.map(({ path }) => path),
    ['fine.txt'],
  );
  t.equal(refused, bad.length + 2);
  t.equal(
    await contentOf(
      forge([
        { name: 'a', content: Buffer.from('1') },
        { name: 'a', content: Buffer.from('2') },
      ]),
      'a',
    ),
    '2',
  );
  t.equal(await contentOf(forge([{ name: 'a', content }], { comment: 'PK, a comment' }), 'a'), 'x');
});

t.test('archives that lie are refused', async (t) => {
  const content = Buffer.from('content');
  const read = (archive: Buffer) => reasonOf(readZipDirectory(archive.length, partsOf(archive), limits));
  t.equal(await read(Buffer.alloc(0)), 'unreadable_archive');
  t.equal(await read(Buffer.from('no archive at all, but long enough')), 'unreadable_archive');
  const whole = forge([{ name: 'a', content }]);
  t.equal(await read(whole.subarray(0, -5)), 'unreadable_archive');
  t.equal(await read(whole.subarray(20)), 'unreadable_archive', 'the directory is not where the end says');
  t.equal(await read(forge(Array.from({ length: 101 }, (_, at) => ({ name: `f${at}` })))), 'unreadable_archive');
  const open = (entry: Entry) => reasonOf(contentOf(forge([entry]), entry.name));
  t.equal(await open({ name: 'a', content }), 'nothing');
  t.equal(await open({ name: 'a', content, bytes: 3 }), 'unreadable_archive', 'longer than announced');
  t.equal(await open({ name: 'a', content, bytes: 300 }), 'unreadable_archive', 'shorter');
  t.equal(await open({ name: 'a', content, crc: 1 }), 'unreadable_archive', 'another checksum');
  t.equal(await open({ name: 'a', content: Buffer.alloc(1_000_000), bytes: 10 }), 'unreadable_archive');
  await fc.assert(
    fc.asyncProperty(fc.nat(whole.length - 1), fc.nat(255), async (at, byte) => {
      const changed = Buffer.from(whole);
      changed[at] = byte;
      const reason = await reasonOf(contentOf(changed, 'a'));
      t.ok(reason === 'nothing' || reason === 'unreadable_archive', reason);
    }),
    { numRuns: 200 },
  );
});

const report = `<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]>
<testsuites><testsuite name="garden" tests="4">
  <testcase classname="garden.Gate" name="opens" time="1,000.5"/>
  <testcase classname="garden.Gate" name="shuts &lt;quietly&gt;" time="0.25" file="gate.py">
    <failure message="expected 3 &amp; got 4">at gate.py:7 &b;</failure></testcase>
  <testcase name="paints"><skipped message="no paint"/></testcase>
  <testcase name="oils"><error>Oil<![CDATA[ <none> ]]></error></testcase>
</testsuite></testsuites>`;

t.test('a report in JUnit’s XML: results, times and texts; entities are not expanded', async (t) => {
  const read = readJunit(report)!;
  t.strictSame(read.counts, { passed: 1, failed: 1, error: 1, skipped: 1 });
  t.equal(read.durationMs, 1_000_750);
  t.match(read.cases, [
    { name: 'shuts <quietly>', suite: 'garden', group: 'garden.Gate', result: 'failed', file: 'gate.py' },
    { name: 'oils', result: 'error', details: 'Oil <none>' },
    { name: 'paints', result: 'skipped', message: 'no paint' },
    { name: 'opens', result: 'passed', durationMs: 1_000_500 },
  ]);
  t.match(read.cases[0], { message: 'expected 3 & got 4', details: 'at gate.py:7 &b;' });
  for (const other of ['', '<html/>', 'no xml', '{"a": 1}', '<coverage><testsuite/></coverage>'])
    t.equal(readJunit(other), null);
  t.match(readJunit('<testsuite><testcase name="cut off"'), { cases: [] });
  const many = readJunit(
    `<testsuite>${'<testcase name="a"/>'.repeat(30_000)}<testcase name="z"><failure/></testcase></testsuite>`,
  )!;
  t.equal(many.counts.passed, 30_000);
  t.equal(many.cases.length, 20_000);
  t.match(many.cases[0], { name: 'z', result: 'failed' }, 'a failure is never cut off');
});

t.test('the files of a run’s artifacts, one of them, and its reports', async (t) => {
  const { push, addRunner, ci, found } = await openCi(t);
  await push(workflow('on: push\njobs: {a: {runs-on: linux, steps: [{run: make}]}}\n'));
  const runner = await addRunner(['linux']);
  const { taskId, context } = (await runner.fetch())!;
  await runner.report(taskId);
  const task = await ci.artifacts.authoriseTask(context.gitea_runtime_token as string);
  const upload = async (name: string, archive: Buffer): Promise<number> => {
    const query = await ci.artifacts.create(task, { name, expiresAt: null });
    await ci.artifacts.receive(query, { kind: 'whole' }, Readable.from([archive]));
    return (await ci.artifacts.finish(task, { name, sizeBytes: null, digest: null })).id;
  };
  const bomb = Buffer.alloc(20 * 1024 * 1024);
  const id = await upload(
    'site',
    forge([
      { name: 'b/index.html', content: Buffer.from('<p>') },
      { name: 'a.txt', content: Buffer.from('text') },
      { name: 'reports/TEST-garden.XML', content: Buffer.from(report) },
      { name: 'pom.xml', content: Buffer.from('<project/>') },
      { name: 'bomb', content: bomb },
      { name: '../out', content: Buffer.from('x') },
    ]),
  );
  const listed = await ci.artifacts.files(found, 1, id);
  t.strictSame(
    listed.files.map(({ path, bytes }) => [path, bytes]),
    [
      ['a.txt', 4],
      ['b/index.html', 3],
      ['bomb', bomb.length],
      ['pom.xml', 10],
      ['reports/TEST-garden.XML', Buffer.byteLength(report)],
    ],
  );
  t.equal(listed.refused, 1);
  const one = await ci.artifacts.openFileIn(found, 1, id, 'a.txt');
  t.equal((await buffer(one.content)).toString(), 'text');
  const pair = ['first', 'other'].map((name) => forge([{ name: `${name}.txt`, content: Buffer.from(name) }]));
  t.equal(pair[0]!.length, pair[1]!.length);
  const ids = [await upload('first', pair[0]!), await upload('other', pair[1]!)];
  const names = [];
  for (const each of ids) names.push((await ci.artifacts.files(found, 1, each)).files.map(({ path }) => path));
  t.strictSame(names, [['first.txt'], ['other.txt']], 'archives of one size are told apart');
  t.equal(await reasonOf(ci.artifacts.openFileIn(found, 1, id, 'bomb')), 'file_too_large');
  for (const path of ['', '../out', 'b', 'b/', 'none']) {
    t.equal(await reasonOf(ci.artifacts.openFileIn(found, 1, id, path)), 'artifact_not_found', path);
  }
  const broken = await upload('broken', Buffer.from('no archive'));
  t.equal(await reasonOf(ci.artifacts.files(found, 1, broken)), 'unreadable_archive');

  // The older protocol sends files one by one, packed.
  const { id: older } = await ci.artifacts.openFileArtifact(task, { name: 'older', ttlMs: null });
  const body = Buffer.from('<testsuite><testcase name="one"/></testsuite>');
  await ci.artifacts.receiveFile(task, older, {
    itemPath: 'older/x/junit.xml',
    start: 0,
    end: body.length,
    total: body.length,
    isGzipped: false,
    sizeBytes: body.length,
    body: Readable.from([body]),
  });
  await ci.artifacts.finishFileArtifact(task, 'older');
  t.match(await ci.artifacts.files(found, 1, older), { files: [{ path: 'x/junit.xml', bytes: body.length }] });
  t.equal(
    (await buffer((await ci.artifacts.openFileIn(found, 1, older, 'x/junit.xml')).content)).toString(),
    `${body}`,
  );

  const { reports, unread } = await ci.testReports(found, 1);
  t.strictSame(
    reports.map(({ artifact, path }) => [artifact.name, path]),
    [
      ['site', 'reports/TEST-garden.XML'],
      ['older', 'x/junit.xml'],
    ],
  );
  t.match(unread, [{ artifact: 'broken', path: '' }]);
  t.equal(await reasonOf(ci.artifacts.files(found, 2, id)), 'run_not_found');
  t.equal(await reasonOf(ci.artifacts.files(found, 1, 99)), 'artifact_not_found');
});

t.test('retention of a repository: shorter than the server, for new artifacts and for all logs', async (t) => {
  const { push, addRunner, ci, found, clock, viewer, state } = await openCi(t);
  const day = 24 * 3_600_000;
  t.strictSame(await ci.retention.of(found.repository.id), {
    artifactDays: null,
    logDays: null,
    maxArtifactDays: 90,
    maxLogDays: 365,
  });
  for (const change of [{ artifactDays: 91 }, { artifactDays: 0 }, { logDays: 366 }, { logDays: 1.5 }])
    t.equal(await reasonOf(ci.retention.set(viewer, found, change)), 'invalid_retention', JSON.stringify(change));
  const reader = { ...found, level: 'write' as const };
  t.equal(await reasonOf(ci.retention.set(viewer, reader, { logDays: 1 })), 'repository_not_found');
  await ci.retention.set(viewer, found, { artifactDays: 14, logDays: 2 });
  await push(workflow('on: push\njobs: {a: {runs-on: linux, steps: [{run: make}]}}\n'));
  const runner = await addRunner(['linux']);
  const { taskId, context } = (await runner.fetch())!;
  t.equal(context.retention_days, '14', 'the runner is told');
  await runner.report(taskId);
  const task = await ci.artifacts.authoriseTask(context.gitea_runtime_token as string);
  for (const [name, expiresAt] of [
    ['usual', null],
    ['longer', clock.now() + 80 * day],
    ['shorter', clock.now() + day],
  ] as const)
    await ci.artifacts.receive(
      await ci.artifacts.create(task, { name, expiresAt }),
      { kind: 'whole' },
      Readable.from([forge([])]),
    );
  for (const name of ['usual', 'longer', 'shorter'])
    await ci.artifacts.finish(task, { name, sizeBytes: null, digest: null });
  t.strictSame(
    (await ci.artifacts.list(found, 1)).map(({ name, expiresAt }) => [name, (expiresAt - clock.now()) / day]),
    [
      ['usual', 14],
      ['longer', 14],
      ['shorter', 1],
    ],
  );
  await runner.finish(taskId);
  const { rows } = await state(1);
  const isRemoved = async () => (await ci.runs.findJob(found, 1, rows[0]!.id)).task?.logRemovedAt !== null;
  clock.advance(2 * day - 1_000);
  t.match(await ci.removeOld(), { logs: 0, artifacts: 1 });
  t.equal(await isRemoved(), false);
  clock.advance(2_000);
  t.match(await ci.removeOld(), { logs: 1 });
  t.equal(await isRemoved(), true);
  t.match(await ci.retention.set(viewer, found, { artifactDays: null }), { artifactDays: null, logDays: 2 });
});
