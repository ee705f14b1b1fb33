// The protection of the default branch, as the stock git client sees it over HTTP and SSH.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { startHearth } from '../fixtures/start-hearth.ts';
import { gitClient } from './git-client.ts';

t.test(
  'security A08 the default branch only moves forward: refused before git accepts the objects, with a clear line',
  async (t) => {
    const hearth = await startHearth(t);
    const alice = await hearth.addPerson('alice');
    const { accounts, repositories } = hearth.modules;
    const client = gitClient(hearth.folder);
    await accounts.addKey(alice.id, { title: 'test', line: readFileSync(client.publicKeyFile, 'utf8') });
    await repositories.create(localAdministrator, { owner: 'alice', name: 'work', visibility: 'PRIVATE' });
    const { path: served } = await repositories.find(localAdministrator, 'alice', 'work');

    const work = path.join(hearth.folder, 'work');
    mkdirSync(work);
    const git = (...args: string[]) => client.expect(work, ...args);
    const commit = async (text: string) => {
      writeFileSync(path.join(work, 'file'), text);
      await git('add', '.');
      await git('commit', '--quiet', `--message=${text}`);
    };
    const origins = {
      http: hearth.url.replace('://', `://alice:${alice.token}@`) + '/git/alice/work.git',
      ssh: `ssh://git@${hearth.ssh.host}:${hearth.ssh.port}/alice/work.git`,
    };
    await git('init', '--quiet', '--initial-branch=main');
    for (const text of ['one', 'two']) await commit(text);
    await git('push', '--quiet', origins.http, 'main', 'main:topic');
    const stored = () => client.expect(served, 'count-objects', '-v');

    for (const [via, origin] of Object.entries(origins)) {
      await t.test(via, async (t) => {
        await git('fetch', '--quiet', origin, 'main');
        await git('reset', '--quiet', '--hard', 'FETCH_HEAD');
        await commit(`${via}: forward`);
        t.equal((await client.run(work, 'push', origin, 'main')).code, 0);

        const before = await stored();
        await git('commit', '--quiet', '--amend', `--message=${via}: rewritten`);
        const forced = await client.run(work, 'push', '--force', origin, 'main');
        t.not(forced.code, 0);
        t.match(
          forced.stderr,
          /main -> main \(branch rule "default branch" \(~DEFAULT_BRANCH\): force pushes are not allowed; fetch, then merge or rebase\)/,
        );
        t.equal(await stored(), before, 'no object stays');
        t.equal((await client.run(work, 'push', '--force', origin, 'main:topic')).code, 0, 'other branches are free');

        const deleted = await client.run(work, 'push', origin, ':main');
        t.not(deleted.code, 0);
        t.match(deleted.stderr, /main is the default branch and cannot be deleted; choose another one first/);
        const away = await client.run(work, 'push', '--force', origin, 'HEAD~2:main');
        t.match(away.stderr, /force pushes are not allowed/, 'nor moved back to what the server has');

        await repositories.edit(localAdministrator, 'alice', 'work', { defaultBranchProtected: false });
        t.equal((await client.run(work, 'push', '--force', origin, 'main')).code, 0, 'unless it is allowed');
        await repositories.edit(localAdministrator, 'alice', 'work', { defaultBranchProtected: true });
      });
    }
    t.same(
      hearth.log.filter(({ level }) => level === 'error'),
      [],
    );
  },
);
