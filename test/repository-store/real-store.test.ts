// Repositories in a real S3-compatible store: pushed, packed, moved, collected, and read from an empty cache. Swift by
// default; HEARTH_S3 names another store (test/fixtures/swift-server.ts).
import path from 'node:path';
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { startSwift } from '../fixtures/swift-server.ts';
import { clientGit, gitSync, sampleRepository } from '../git/git-fixture.ts';
import { startGitServer } from '../http-git/git-server.ts';
import { removeCaches } from './store-server.ts';

t.setTimeout(240_000);

t.test('each step is followed by a look at the refs from an empty cache', async (t) => {
  const s3 = await startSwift(t);
  const server = await startGitServer(t, { ...s3.env, SERVICE_GIT_STORAGE: 'store' });
  const { git, repositories, db } = server.app.modules;
  const [url, other] = [await server.newRepository('roof'), await server.newRepository('shed')];
  const sample = sampleRepository();
  const listed = async (): Promise<string> => {
    removeCaches(path.join(server.folder, 'data', 'cache', 'repositories'));
    const { code, stdout, stderr } = await clientGit(['ls-remote', url]);
    if (code !== 0) throw new Error(stderr);
    return stdout;
  };
  for (let count = 0; count < 4; count += 1) {
    const oid = gitSync(['commit-tree', 'main^{tree}', '-p', 'main', '-m', `Push ${count}`], { cwd: sample });
    t.match(await clientGit(['push', '--quiet', url, `${oid}:refs/heads/b${count}`], { cwd: sample }), { code: 0 });
    t.match(await listed(), `${oid}\trefs/heads/b${count}`);
  }
  t.match(await clientGit(['push', '--quiet', other, 'main'], { cwd: sample }), { code: 0 });
  const before = await listed();
  const { path: place } = await repositories.find(localAdministrator, 'alice', 'roof');

  t.equal(await git.maintenance.pack(place), true);
  t.equal(await listed(), before, 'packed');
  for (const to of ['local', 'store'] as const) {
    t.type(await git.storage.moveTo(place, to), 'number');
    t.equal(await listed(), before, `moved to ${to}`);
  }
  await db.write(({ manager }) => manager.query('UPDATE stored_repositories SET collected_at = 1'));
  await git.maintenance.packAll([], async () => true);
  await db.write(({ manager }) => manager.query('UPDATE git_packs SET replaced_at = 1 WHERE replaced_at > 0'));
  await git.maintenance.run();
  t.equal(await listed(), before, 'without what no ref leads to');
  const clone = path.join(server.folder, 'clone');
  t.match(await clientGit(['clone', '--quiet', '--mirror', url, clone]), { code: 0 });
  gitSync(['fsck', '--full', '--strict'], { cwd: clone });
  t.equal((await fetch(`${server.origin}/alice/roof`)).status, 200);
  t.match(await clientGit(['ls-remote', other]), { code: 0, stdout: /refs\/heads\/main/ });
});
