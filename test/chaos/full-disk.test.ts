// A disk without space behind every protocol: one clear refusal, /readyz says it, and everything goes on afterwards.
// git is a wrapper that answers as git does on a full disk while a file is there; as root the disk is a small, real
// one.
import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import type { Test } from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { storageFault } from '../../src/doctor/index.ts';
import { diskFull, explainFullDisk, internal, isDiskFull, unavailable } from '../../src/kernel/index.ts';
import { startHearth } from '../fixtures/start-hearth.ts';
import type { Hearth } from '../fixtures/start-hearth.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { clientEnvironment } from '../git/git-fixture.ts';
import { hasTmpfs } from './loop-device-disk.ts';

const run = promisify(execFile);
const said = /disk of the server is full/;

t.test('what is a full disk', async (t) => {
  const coded = (code: string, cause?: unknown) => Object.assign(new Error('write failed', { cause }), { code });
  for (const [what, error, expected] of [
    ['a write', coded('ENOSPC'), true],
    ['a quota', coded('EDQUOT'), true],
    ['a cause', new Error('a', { cause: new Error('b', { cause: coded('ENOSPC') }) }), true],
    [
      'the stderr of git',
      internal('git failed', { cause: { errorText: 'error: file write error: No space left on device' } }),
      true,
    ],
    ['a cause that is text', internal('git failed', { cause: 'fatal: Disk quota exceeded' }), true],
    ['SQLite', new Error('database or disk is full'), true],
    ['git, of a ref', `cannot update ref 'refs/heads/a': couldn't write '/x.git/./refs/heads/a.lock'`, true],
    [
      'git, of a ref that another one is in the way of',
      `cannot lock ref 'refs/heads/a/b': 'refs/heads/a' exists`,
      false,
    ],
    ['a read-only disk', coded('EROFS'), false],
    ['another fault', new Error('broken'), false],
    ['nothing', null, false],
    ['no error', undefined, false],
  ] as const)
    t.equal(isDiskFull(error), expected, what);
  const cyclic = new Error('round');
  cyclic.cause = cyclic;
  t.equal(isDiskFull(cyclic), false);
  const refusal = unavailable('git_busy', 'Busy.', { cause: coded('ENOSPC') });
  t.equal(explainFullDisk(refusal), refusal, 'a refusal stays what it is');
  t.match(explainFullDisk(coded('ENOSPC')), { reason: 'disk_full', code: 'unavailable', message: diskFull().message });
});

/** The acts of one person by every act; each says its status and its words. */
async function actsOf({ url, folder, ssh }: Hearth, alice: { token: string; session: string }, turn: string) {
  const headers = { Authorization: `Bearer ${alice.token}`, 'Content-Type': 'application/json' };
  const post = async (where: string, body: object, method = 'POST') => {
    const response = await fetch(`${url}/api/v1/repos/alice/site/${where}`, {
      method,
      headers,
      body: JSON.stringify(body),
    });
    return [response.status, await response.text(), response.headers.get('retry-after')] as const;
  };
  void ssh;
  const work = path.join(folder, 'work');
  const commit = async () => {
    writeFileSync(
      path.join(work, turn),
      Buffer.alloc(40_000, turn).map((byte, at) => byte ^ ((at * 7919) % 251)),
    );
    await run('git', ['add', '.'], { cwd: work, env: clientEnvironment });
    await run('git', ['-c', 'user.name=alice', '-c', 'user.email=alice@example.org', 'commit', '-q', '-m', turn], {
      cwd: work,
      env: clientEnvironment,
    });
  };
  await commit();
  return {
    contents: await post(`contents/${turn}.txt`, { content: Buffer.from(turn).toString('base64'), message: turn }),
    tag: await post('tags', { tag_name: `v-${turn}`, target: 'main' }),
    release: await post('releases', { tag_name: `r-${turn}`, target_commitish: 'main' }),
    branch: await post('branches', { new_branch_name: `b-${turn}`, old_branch_name: 'main' }),
    push: await run(
      'git',
      ['push', `${url.replace('://', `://alice:${alice.token}@`)}/git/alice/site.git`, `HEAD:refs/heads/p-${turn}`],
      {
        cwd: work,
        env: clientEnvironment,
      },
    ).then(
      ({ stderr }) => [0, stderr] as const,
      ({ code, stderr }: { code: number; stderr: string }) => [code, stderr] as const,
    ),
    readyz: await fetch(`${url}/readyz`).then(async (response) => [response.status, await response.text()] as const),
    page: (await fetch(`${url}/repos/alice/site`)).status,
  };
}

async function makeSite(hearth: Hearth) {
  const alice = await hearth.addPerson('alice');
  await hearth.modules.repositories.create(localAdministrator, { owner: 'alice', name: 'site', visibility: 'PUBLIC' });
  const work = path.join(hearth.folder, 'work');
  mkdirSync(work);
  await run('git', ['init', '-q', '-b', 'main'], { cwd: work, env: clientEnvironment });
  writeFileSync(path.join(work, 'a'), 'a');
  await run('git', ['add', '.'], { cwd: work, env: clientEnvironment });
  await run('git', ['-c', 'user.name=alice', '-c', 'user.email=alice@example.org', 'commit', '-q', '-m', 'a'], {
    cwd: work,
    env: clientEnvironment,
  });
  await run('git', ['push', `${hearth.url.replace('://', `://alice:${alice.token}@`)}/git/alice/site.git`, 'main'], {
    cwd: work,
    env: clientEnvironment,
  });
  return alice;
}

type Answers = Awaited<ReturnType<typeof actsOf>>;

function expectRefused(t: Test, seen: Answers): void {
  for (const act of ['contents', 'tag', 'release', 'branch'] as const) {
    const [status, words, retryAfter] = seen[act];
    t.equal(status, 503, `${act}: ${words}`);
    t.match(words, said, act);
    t.ok(Number(retryAfter) > 0, `${act}: Retry-After`);
  }
  t.not(seen.push[0], 0);
  t.match(seen.push[1], said, 'push');
  t.equal(seen.page, 200, 'pages are read');
}

function expectTaken(t: Test, seen: Answers): void {
  for (const act of ['contents', 'tag', 'release', 'branch'] as const)
    t.equal(seen[act][0], 201, `${act}: ${seen[act][1]}`);
  t.equal(seen.push[0], 0, seen.push[1]);
  t.strictSame(seen.readyz[0], 200);
}

const writing = [
  ...['receive-pack', 'update-ref', 'hash-object', 'mktag', 'unpack-objects', 'index-pack', 'fast-import'],
  ...['commit-tree', 'mktree', 'write-tree', 'update-index'],
];

t.test('git finds no space', async (t) => {
  const folder = temporaryFolder(t);
  const [flag, wrapper] = [path.join(folder, 'full'), path.join(folder, 'git-on-a-full-disk')];
  writeFileSync(
    wrapper,
    `#!/bin/sh
if test -e '${flag}'; then
  case " $* " in
    ${writing.map((word) => `*" ${word} "*`).join('|')})
      echo 'error: unable to write loose object file: No space left on device' >&2; exit 128;;
  esac
fi
exec git "$@"
`,
  );
  chmodSync(wrapper, 0o755);
  const hearth = await startHearth(t, { folder, env: { SERVICE_GIT_PROGRAM: wrapper } });
  const alice = await makeSite(hearth);
  writeFileSync(flag, '');
  expectRefused(t, await actsOf(hearth, alice, 'full'));
  rmSync(flag);
  expectTaken(t, await actsOf(hearth, alice, 'free'));
});

t.test('readiness asks for more than one byte', async (t) => {
  const dataDir = path.join(temporaryFolder(t), 'data');
  mkdirSync(path.join(dataDir, 'run'), { recursive: true });
  const storage = { lowDiskFloorBytes: 0 } as never;
  t.equal(await storageFault({ dataDir, storage }), null);
  t.notOk(existsSync(path.join(dataDir, 'run', 'writable')), 'and leaves nothing');
  t.equal(await storageFault({ dataDir, storage: { lowDiskFloorBytes: 2 ** 60 } as never }), 'disk full');
  rmSync(path.join(dataDir, 'run'), { recursive: true });
  t.equal(await storageFault({ dataDir, storage }), 'storage');
});

if (hasTmpfs) {
  t.test('a small disk is filled up', async (t) => {
    const folder = temporaryFolder(t);
    const dataDir = path.join(folder, 'data');
    mkdirSync(dataDir, { mode: 0o700 });
    await run('mount', ['-t', 'tmpfs', '-o', 'size=24m,mode=700', 'none', dataDir]);
    t.teardown(() => run('umount', ['-l', dataDir]));
    const hearth = await startHearth(t, { folder, env: { SERVICE_STORAGE_LOW_DISK_FLOOR: '0B' } });
    const alice = await makeSite(hearth);
    const filler = path.join(dataDir, 'filler');
    await run('sh', ['-c', `dd if=/dev/zero of='${filler}' bs=4k 2>/dev/null || true`]);
    t.equal(statfsSync(dataDir).bavail, 0);
    const seen = await actsOf(hearth, alice, 'full');
    t.match(seen.readyz, [503, /disk full/]);
    expectRefused(t, seen);
    rmSync(filler);
    expectTaken(t, await actsOf(hearth, alice, 'free'));
  });
}
