import { chmodSync, chownSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { dropPrivilegesToOwnerOf, prepareDataDir, requireDataDir } from '../../src/cli/data-dir.ts';
import { takeInstanceLock } from '../../src/cli/serving/instance-lock.ts';
import { readRunningServer, readRuntimeState, writeRuntimeState } from '../../src/cli/serving/runtime-state.ts';
import { isDomainError } from '../../src/kernel/index.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const folder = temporaryFolder(t);

/** A process that records changes of its user. */
function processOf(uid: number) {
  const became: [string, unknown][] = [];
  const record =
    (what: string) =>
    (value: unknown): void =>
      void became.push([what, value]);
  return { became, getuid: () => uid, setgroups: record('groups'), setgid: record('gid'), setuid: record('uid') };
}

t.test('root becomes the owner of the data folder, groups first', async (t) => {
  const dataDir = path.join(folder, 'owned');
  mkdirSync(dataDir);
  if (process.getuid?.() === 0) chownSync(dataDir, 1000, 1001);
  const { uid, gid } = statSync(dataDir);
  const root = processOf(0);
  t.equal(dropPrivilegesToOwnerOf(dataDir, root), uid);
  t.same(root.became, [
    ['groups', []],
    ['gid', gid],
    ['uid', uid],
  ]);

  const other = processOf(1234);
  t.equal(dropPrivilegesToOwnerOf(dataDir, other), null);
  t.equal(dropPrivilegesToOwnerOf(path.join(folder, 'absent'), processOf(0)), null);
  t.same(other.became, []);
});

t.test('the data folder is created for its user alone, with a README, and used again', async (t) => {
  const dataDir = path.join(folder, 'a/b/data');
  prepareDataDir(dataDir, processOf(7));
  t.equal(statSync(dataDir).mode & 0o777, 0o700);
  t.ok(existsSync(path.join(dataDir, 'README')));
  prepareDataDir(dataDir, processOf(7));
});

t.test('an unusable folder is refused with the command that fixes it', async (t) => {
  const file = path.join(folder, 'file');
  // A file of that name stops every user, root included.
  writeFileSync(file, '');
  try {
    prepareDataDir(path.join(file, 'data'), processOf(1234));
    t.fail('must refuse');
  } catch (error) {
    if (!isDomainError(error)) throw error;
    t.equal(error.reason, 'data_dir_unusable');
    t.match(error, {
      message: /user 1234 cannot write to /i,
      hint: `mkdir -p ${file}/data && chown 1234 ${file}/data`,
    });
  }
});

t.test('a file system that is read-only is named, and is not the fault of an owner', async (t) => {
  const readOnly = () => {
    throw Object.assign(new Error('read-only'), { code: 'EROFS' });
  };
  for (const dataDir of [folder, path.join(folder, 'absent-as-well')])
    t.throws(() => prepareDataDir(dataDir, processOf(0), readOnly), {
      reason: 'data_dir_read_only',
      message: /read-only/,
      hint: /remount,rw/,
    } as never);
});

t.test('one process holds the lock, its id is reported, and the lock is free afterwards', async (t) => {
  const dataDir = path.join(folder, 'locked');
  const lock = takeInstanceLock(dataDir);
  writeRuntimeState(dataDir, { pid: 4711, startedAt: '', http: null, ssh: null, webUrl: null });
  t.throws(() => takeInstanceLock(dataDir), {
    code: 'unavailable',
    reason: 'data_dir_in_use',
    message: /process 4711/,
  });
  lock.release();
  takeInstanceLock(dataDir).release();
});

t.test('the state file of a killed server is ignored', async (t) => {
  const dataDir = path.join(folder, 'facts');
  t.equal(readRuntimeState(dataDir), null);
  const facts = { startedAt: '', http: { host: '::1', port: 1 }, ssh: null, webUrl: 'http://[::1]:1' };
  writeRuntimeState(dataDir, { ...facts, pid: process.pid });
  t.match(readRunningServer(dataDir), facts);
  writeRuntimeState(dataDir, { ...facts, pid: 2 ** 30 });
  t.equal(readRunningServer(dataDir), null);
  t.match(readRuntimeState(dataDir), facts);
});

t.test('the folder of another user is not reported as missing', async (t) => {
  const dataDir = path.join(folder, 'foreign');
  mkdirSync(dataDir);
  writeFileSync(path.join(dataDir, 'hearth.db'), '');
  requireDataDir(dataDir, path.join(dataDir, 'hearth.db'), 'the default');
  t.throws(() => requireDataDir(folder, path.join(folder, 'hearth.db'), 'the default'), {
    code: 'invalid',
    reason: 'no_data_dir',
  });
  const isRoot = process.getuid?.() === 0;
  chmodSync(dataDir, 0);
  if (isRoot) process.seteuid?.(65_534);
  try {
    t.throws(() => requireDataDir(dataDir, path.join(dataDir, 'hearth.db'), 'the default'), {
      code: 'forbidden',
      reason: 'data_dir_forbidden',
    });
  } finally {
    if (isRoot) process.seteuid?.(0);
    chmodSync(dataDir, 0o700);
  }
});
