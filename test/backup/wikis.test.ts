// Wikis in backups: copied with their repository, verified, restored with their history, and packed like it.
import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { runCli } from '../cli/run-cli.ts';
import { runGit } from '../fixtures/git-repositories.ts';
import { startHearth } from '../fixtures/start-hearth.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

t.setTimeout(180_000);

t.test('the wiki of a repository is in its backup, and comes back with its history', async (t) => {
  const hearth = await startHearth(t);
  await hearth.addPerson('alice');
  const { backups, git, repositories } = hearth.modules;
  const at = ['alice', 'roof'] as const;
  await repositories.create(localAdministrator, { owner: 'alice', name: 'roof', visibility: 'PUBLIC' });
  await repositories.create(localAdministrator, { owner: 'alice', name: 'shed', visibility: 'PUBLIC' });
  const page = (text: string) => ({ title: 'Home', content: Buffer.from(text) });
  await repositories.wikis.create(localAdministrator, ...at, page('one\n'));
  await repositories.wikis.edit(localAdministrator, ...at, 'Home', page('two\n'));
  const { path: wiki } = await repositories.wikis.find(localAdministrator, ...at);
  const parent = path.dirname(wiki);
  t.ok((await git.storage.size(parent)) > 0, 'its objects count in the size of the repository');
  // All refs in one file: the folders that git needs are empty then.
  await runGit(['pack-refs', '--all'], { cwd: wiki });

  const { name, folder } = await backups.create();
  const inside = path.relative(hearth.config.dataDir, wiki);
  t.ok(existsSync(path.join(folder, inside, 'HEAD')));
  t.strictSame((await backups.drill(name)).problems, []);
  const target = path.join(temporaryFolder(t), 'data');
  t.equal((await runCli(['restore', folder], { env: { SERVICE_DATA_DIR: target } })).code, 0);
  const log = await runGit(['log', '--format=%s', 'main'], { cwd: path.join(target, inside) });
  t.strictSame(log.trim().split('\n'), ['Update Home', 'Add Home']);
  t.match(await runGit(['show', 'main:Home.md'], { cwd: path.join(target, inside) }), 'two');

  const [object] = (await runGit(['rev-list', '--objects', '--all'], { cwd: wiki })).split('\n');
  const loose = path.join(folder, inside, 'objects', object!.slice(0, 2));
  if (existsSync(loose)) {
    rmSync(loose, { recursive: true });
    const problems = (await backups.verify(name)).flatMap((part) => part.problems);
    t.ok(problems.length > 0, 'a backup without an object of it is not sound');
  }
});
