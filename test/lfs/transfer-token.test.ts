// Transfer tokens of Git LFS: what they permit whom, when they end, and what is not taken for one.
import t from 'tap';
import path from 'node:path';
import { anonymous } from '../../src/access/index.ts';
import type { TaskViewer } from '../../src/access/index.ts';
import { systemRandom } from '../../src/kernel/index.ts';
import { signTransfer, tokenTtlMs, verifyTransfer } from '../../src/lfs/tokens/transfer-token.ts';
import type { TransferGrant } from '../../src/lfs/tokens/transfer-token.ts';
import { InstanceKey } from '../../src/sealing/index.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { openModules, viewerOf } from '../repositories/repositories-fixture.ts';

const modules = await openModules(t);
const { accounts, clock, db } = modules;
const keyIn = (folder: string) => new InstanceKey(path.join(folder, 'key'), systemRandom, 'lfs');
const deps = { accounts, clock, db, instanceKey: keyIn(temporaryFolder(t)) };
const bob = viewerOf(await accounts.personByUsername('bob'), { scope: 'write', via: 'token' });
const object = { oid: 'a'.repeat(64), bytes: 5 };
const upload: TransferGrant = { viewer: bob, repositoryId: 'one', operation: 'upload', object };
const verify = (token: string) => verifyTransfer(deps, token);

t.test('a token is what its maker was, for one repository', async (t) => {
  t.match(await verify(signTransfer(deps, upload)), {
    repositoryId: 'one',
    operation: 'upload',
    object,
    viewer: { kind: 'person', id: bob.id, username: 'bob', via: 'token', scope: 'write', repositoryIds: ['one'] },
  });
  const reading = await verify(signTransfer(deps, { ...upload, operation: 'download', object: null }));
  t.match(reading, { operation: 'download', object: null, viewer: { scope: 'read' } });
  const elsewhere = { ...bob, repositoryIds: ['two'] };
  const limited = await verify(signTransfer(deps, { ...upload, viewer: elsewhere }));
  t.strictSame((limited!.viewer as typeof bob).repositoryIds, [], 'a credential for another repository stays one');
  t.strictSame((await verify(signTransfer(deps, { ...upload, viewer: anonymous })))!.viewer, anonymous);
  const task: TaskViewer = { kind: 'task', taskId: 3, repositoryId: 'one', scope: 'write' };
  for (const [operation, scope] of [
    ['upload', 'write'],
    ['download', 'read'],
  ] as const)
    t.strictSame((await verify(signTransfer(deps, { ...upload, viewer: task, operation })))!.viewer, {
      ...task,
      scope,
    });
});

t.test('a token ends with its time, and with the account', async (t) => {
  const token = signTransfer(deps, upload);
  clock.advance(tokenTtlMs - 1);
  t.ok(await verify(token));
  clock.advance(1);
  t.equal(await verify(token), null);
  const fresh = signTransfer(deps, upload);
  await accounts.setDisabled(bob.id, true);
  t.equal(await verify(fresh), null, 'a disabled account');
  await accounts.setDisabled(bob.id, false);
  t.ok(await verify(fresh));
  const gone = { ...upload, viewer: { ...bob, id: 'gone' } };
  t.equal(await verify(signTransfer(deps, gone)), null);
  t.equal(await verify(signTransfer(deps, { ...upload, viewer: { kind: 'deployKey', id: 'gone' } as never })), null);
});

t.test('what this server has not signed so opens nothing', async (t) => {
  const token = signTransfer(deps, upload);
  const [text, signature] = token.slice('hlfs_'.length).split('.') as [string, string];
  const claims = JSON.parse(Buffer.from(text, 'base64url').toString()) as object;
  const other = Buffer.from(JSON.stringify({ ...claims, r: 'two' })).toString('base64url');
  const foreign = signTransfer({ ...deps, instanceKey: keyIn(temporaryFolder(t)) }, upload);
  for (const forged of [
    `hlfs_${other}.${signature}`,
    `hlfs_${text}.`,
    `hlfs_${text}`,
    `hlfs_${text}.${signature.slice(4)}`,
    `hlfs_${text}.${'A'.repeat(signature.length)}`,
    'hlfs_',
    'hlfs_x.y',
    foreign,
  ])
    t.equal(await verify(forged), null, forged);
});
