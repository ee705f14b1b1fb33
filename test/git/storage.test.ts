import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import t from 'tap';
import { createGit, encodePacket, flushPacket } from '../../src/git/index.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import {
  errorWithReason,
  clientEnvironment,
  gitConfig,
  gitSync,
  killBelow,
  openGit,
  processesBelow,
  recordingLogger,
  sampleRepository,
} from './git-fixture.ts';
import { packOf, pushBytes, sendPush, zeroId } from './push-fixture.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const sample = sampleRepository();
const main = gitSync(['rev-parse', 'main'], { cwd: sample });

t.test(
  'SECURITY B01, SPEC §2.2 a repository lies at <storage-root>/<owner-uuid>/<repo-uuid>.git, and nowhere else',
  async (t) => {
    const { git, folder } = await openGit(t);
    const [owner, repository] = ['0a0b0c0d-0000-4000-8000-000000000001', '0a0b0c0d-0000-4000-8000-000000000002'];
    t.equal(
      git.storage.pathOf(owner, repository),
      path.join(folder, 'data', 'repositories', owner, `${repository}.git`),
    );
    for (const bad of ['', 'alice', '../../etc', `${owner}/..`, owner.toUpperCase(), `${owner}\n`]) {
      t.throws(() => git.storage.pathOf(bad, repository), { code: 'internal' }, bad);
      t.throws(() => git.storage.pathOf(owner, bad), { code: 'internal' }, bad);
    }
  },
);

t.test('SECURITY A04: a new repository is bare, empty, and without hooks or samples', async (t) => {
  const { git, newRepository } = await openGit(t);
  const repository = await newRepository();
  t.same(readdirSync(repository).sort(), ['HEAD', 'config', 'info', 'objects', 'refs']);
  t.equal(readFileSync(path.join(repository, 'HEAD'), 'utf8'), 'ref: refs/heads/main\n');
  t.equal(readFileSync(path.join(repository, 'info', 'attributes'), 'utf8'), '* -export-subst\n');
  t.ok(await git.storage.exists(repository));
  await t.rejects(git.storage.create(repository, { defaultBranch: 'main' }), errorWithReason('repository_exists'));
  for (const branch of ['', '-x', 'a..b', 'HEAD', 'a b', 'x.lock']) {
    await t.rejects(
      git.storage.create(`${repository}2.git`, { defaultBranch: branch }),
      errorWithReason('invalid_branch_name'),
      branch,
    );
  }
});

t.test('an interrupted creation can be repeated', async (t) => {
  const { git, folder } = await openGit(t);
  const repository = path.join(folder, 'data', 'x.git');
  mkdirSync(path.join(`${repository}.new`, 'refs'), { recursive: true });
  t.notOk(await git.storage.exists(repository));
  await git.storage.create(repository, { defaultBranch: 'main' });
  t.notOk(existsSync(`${repository}.new`));
});

t.test('repositories can be moved and removed while they are read', async (t) => {
  const { git, folder, newRepository } = await openGit(t);
  const [repository, other] = await Promise.all([newRepository(), newRepository()]);
  await sendPush(
    git,
    repository,
    pushBytes({ commands: [`${zeroId} ${main} refs/heads/main`], pack: packOf(sample, 'main') }),
  );
  t.match(await git.refs.head(repository), { oid: main });
  const trashed = path.join(folder, 'data', 'trash', 'x.git');
  await git.storage.move(repository, trashed);
  t.notOk(await git.storage.exists(repository));
  t.match(await git.refs.head(trashed), { oid: main });
  await t.rejects(git.storage.move(trashed, other), errorWithReason('repository_exists'));
  mkdirSync(path.join(repository, 'info'), { recursive: true });
  writeFileSync(path.join(repository, 'info', 'late'), 'written by work that had begun before the move');
  await git.storage.move(trashed, repository);
  t.match(await git.refs.head(repository), { oid: main }, 'a leftover at the old place is in nobody’s way');
  t.notOk(existsSync(path.join(repository, 'info', 'late')));
  await git.storage.move(repository, trashed);
  await git.storage.remove(trashed);
  t.same(readdirSync(path.dirname(trashed)), []);
  await t.resolves(git.storage.remove(trashed), 'twice is fine');
  await t.rejects(git.storage.remove(path.join(folder, 'data')), { code: 'internal' });
});

t.test('SECURITY B08: an archive expands no export-subst of pushed attributes', async (t) => {
  const { git, folder, newRepository } = await openGit(t);
  const repository = await newRepository();
  const work = path.join(folder, 'work');
  gitSync(['clone', '--quiet', sample, work]);
  writeFileSync(path.join(work, '.gitattributes'), '* export-subst\n');
  writeFileSync(path.join(work, 'subst'), '$Format:%H%n%(trailers)%w(9999999999)$\n');
  gitSync(['add', '.'], { cwd: work });
  gitSync(['commit', '--quiet', '--message=subst'], { cwd: work });
  gitSync(['push', '--quiet', repository, 'HEAD:main'], { cwd: work });
  const [input, output] = [new PassThrough(), new PassThrough()];
  const archive: Buffer[] = [];
  output.on('data', (chunk: Buffer) => archive.push(chunk));
  input.end(
    Buffer.concat([...['--format=tar', 'main', 'subst'].map((word) => encodePacket(`argument ${word}`)), flushPacket]),
  );
  const outcome = await git.transfers.uploadArchive({
    path: repository,
    input,
    output,
    signal: new AbortController().signal,
  });
  t.match(outcome, { exitCode: 0, cutShort: false });
  t.match(Buffer.concat(archive).toString('latin1'), '$Format:%H%n%(trailers)%w(9999999999)$');
});

/** What git leaves when it is killed, as files and folders of a repository. */
const stale = [
  'HEAD.lock',
  'packed-refs.lock',
  'packed-refs.new',
  'config.lock',
  'refs/heads/main.lock',
  'refs/heads/a/b/c.lock',
  'refs/tags/v1.lock',
  'objects/tmp_objdir-incoming-AbCdEf/pack/tmp_pack_1',
  'objects/pack/tmp_pack_XyZ',
  'objects/pack/tmp_idx_XyZ',
  'objects/pack/.tmp-123-pack-1.pack',
  'objects/ab/tmp_obj_QwErTy',
  'objects/info/commit-graphs/commit-graph-chain.lock',
  'objects/info/commit-graph.lock',
];

t.test('recovery removes leftovers of an earlier run and nothing else', async (t) => {
  const { git, folder, newRepository } = await openGit(t);
  const repository = await newRepository();
  await sendPush(
    git,
    repository,
    pushBytes({ commands: [`${zeroId} ${main} refs/heads/main`], pack: packOf(sample, 'main') }),
  );
  gitSync(['repack', '-adq'], { cwd: repository });
  const intact = () => readdirSync(repository, { recursive: true, encoding: 'utf8' }).sort();
  const before = intact();
  const long = new Date(Date.now() - 60_000);
  const place = (file: string, old: boolean) => {
    const full = path.join(repository, file);
    mkdirSync(path.dirname(full), { recursive: true });
    writeFileSync(full, 'x');
    if (!old) return;
    utimesSync(full, long, long);
    if (file.includes('incoming'))
      for (const up of [path.dirname(full), path.dirname(path.dirname(full))]) utimesSync(up, long, long);
  };
  for (const file of stale) place(file, true);
  place('refs/heads/busy.lock', false);
  writeFileSync(path.join(repository, 'refs/heads/empty'), '');

  const actions = await git.maintenance.recover(repository);
  const removed = actions.filter(({ kind }) => kind === 'removed').map(({ file }) => file);
  t.same(removed.sort(), stale.map((file) => file.replace(/(incoming-\w+).*/, '$1')).sort());
  t.same(
    actions.filter(({ kind }) => kind === 'empty_ref'),
    [{ kind: 'empty_ref', file: 'refs/heads/empty' }],
  );
  const left = intact().filter((file) => !before.includes(file) && statSync(path.join(repository, file)).isFile());
  t.same(
    left,
    ['refs/heads/busy.lock', 'refs/heads/empty'],
    'a lock of this run stays, and so does the hint at what was lost',
  );
  t.same(
    (await git.maintenance.recover(repository)).map(({ kind }) => kind),
    ['empty_ref'],
    'a second time there is nothing to do',
  );
  t.match(await git.refs.head(repository), { oid: main });

  const next = await createGit({ config: gitConfig(folder), logger: recordingLogger().logger });
  t.teardown(() => next.stop(0));
  t.match(
    await next.maintenance.recover(repository),
    [{ kind: 'removed', file: 'refs/heads/busy.lock' }, { kind: 'empty_ref' }],
    'the next run removes it',
  );
});

/** A server of an earlier run: opens a push, writes half of it, and waits to be killed. */
const earlierRun = (config: object, repository: string) => `
  import { createGit } from ${JSON.stringify(new URL('../../src/git/index.ts', import.meta.url).href)};
  import { openPush, pushBytes, zeroId } from ${JSON.stringify(new URL('./push-fixture.ts', import.meta.url).href)};
  import { recordingLogger } from ${JSON.stringify(new URL('./git-fixture.ts', import.meta.url).href)};
  const git = await createGit({ config: ${JSON.stringify(config)}, logger: recordingLogger().logger });
  const push = openPush(git, ${JSON.stringify(repository)});
  push.input.write(pushBytes({ commands: [zeroId + ' ${'a'.repeat(40)} refs/heads/main'], pack: Buffer.from('PACK\\0\\0\\0\\x02\\0\\0\\0\\x7f') }));
  setInterval(() => {}, 1_000);
`;

function stopped(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGSTOP');
  } catch {
    return false;
  }
}

t.test('git processes that outlive a killed server are killed at the next start; others are not touched', async (t) => {
  const folder = temporaryFolder(t);
  const config = gitConfig(folder);
  const repository = path.join(config.storage.root, 'x.git');
  const first = await createGit({ config, logger: recordingLogger().logger });
  await first.storage.create(repository, { defaultBranch: 'main' });
  await first.stop(0);

  const server = spawn(process.execPath, ['--input-type=module', '-e', earlierRun(config, repository)], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  t.teardown(() => killBelow(folder));
  const incoming = () => readdirSync(path.join(repository, 'objects')).some((name) => name.startsWith('tmp_objdir-'));
  await waitUntil(incoming, 'the push of the earlier run');
  // Its input would end with the server; a helper that holds the pipe open keeps git waiting. On a busy machine one
  // of them may be gone before it is stopped.
  const strays = (await processesBelow(repository)).filter((pid) => pid !== server.pid && stopped(pid));
  t.ok(strays.length > 0);
  const byHand = spawn('git', [`--git-dir=${repository}`, 'cat-file', '--batch'], { env: clientEnvironment });
  t.teardown(() => byHand.kill());
  server.kill('SIGKILL');
  await new Promise((resolve) => server.once('close', resolve));

  const next = await createGit({ config, logger: recordingLogger().logger });
  t.teardown(() => next.stop(0));
  const ended = await next.maintenance.endStrayProcesses();
  t.ok(ended.some((pid) => strays.includes(pid)));
  await waitUntil(async () => (await processesBelow(repository)).every((pid) => !strays.includes(pid)));
  t.same([byHand.exitCode, byHand.signalCode], [null, null], 'a command by hand goes on');
  await next.maintenance.recover(repository);
  t.notOk(incoming());
  t.same(await next.maintenance.endStrayProcesses(), [], 'a second time there is nothing to do');
});
