// Overwritten and deleted commits are gone for readers who know their ids: fetches over HTTP and SSH, pages, API.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { startHearth } from '../fixtures/start-hearth.ts';
import { gitClient } from './git-client.ts';

t.test('security A06: an unreachable object is treated as if it were absent', async (t) => {
  const hearth = await startHearth(t);
  const [alice, bob] = [await hearth.addPerson('alice'), await hearth.addPerson('bob')];
  const { accounts, repositories } = hearth.modules;
  const client = gitClient(hearth.folder);
  await accounts.addKey(bob.id, { title: 'test', line: readFileSync(client.publicKeyFile, 'utf8') });
  await repositories.create(localAdministrator, { owner: 'alice', name: 'work', visibility: 'PUBLIC' });
  await repositories.edit(localAdministrator, 'alice', 'work', { defaultBranchProtected: false });
  const work = path.join(hearth.folder, 'work');
  mkdirSync(work);
  const git = (...args: string[]) => client.expect(work, ...args);
  await git('init', '--quiet', '--initial-branch=main');
  const ids: string[] = [];
  for (const text of ['one', 'two', 'a secret']) {
    writeFileSync(path.join(work, 'file'), text);
    await git('add', '.');
    await git('commit', '--quiet', `--message=${text}`);
    ids.push(await git('rev-parse', 'HEAD'));
  }
  const [, preserved, lost] = ids as [string, string, string];
  const [tree, blob] = [await git('rev-parse', 'HEAD^{tree}'), await git('rev-parse', 'HEAD:file')];
  const origin = hearth.url.replace('://', `://alice:${alice.token}@`) + '/git/alice/work.git';
  await git('push', '--quiet', origin, 'main');
  await git('push', '--quiet', '--force', origin, `${preserved}:main`);

  const readers = {
    http: `${hearth.url}/git/alice/work.git`,
    ssh: `ssh://git@${hearth.ssh.host}:${hearth.ssh.port}/alice/work.git`,
  };
  for (const [via, url] of Object.entries(readers)) {
    for (const version of ['0', '2']) {
      await t.test(`${via}, version ${version}`, async (t) => {
        const copy = path.join(hearth.folder, `${via}-${version}`);
        await client.expect(
          hearth.folder,
          '-c',
          `protocol.version=${version}`,
          'clone',
          '--quiet',
          '--bare',
          url,
          copy,
        );
        for (const id of [lost, tree, blob]) {
          const response = await client.run(copy, '-c', `protocol.version=${version}`, 'fetch', '--quiet', url, id);
          t.not(response.code, 0, id);
          t.match(response.stderr, /not our ref|unadvertised object/);
          t.not((await client.run(copy, 'cat-file', '-e', id)).code, 0, 'nothing came');
        }
        if (version === '2')
          t.equal(
            (await client.run(copy, 'fetch', '--quiet', url, ids[0]!)).code,
            0,
            'what a branch leads to comes by its id',
          );
      });
    }
  }

  await t.test('a partial clone still gets what it lacks', async (t) => {
    const copy = path.join(hearth.folder, 'partial');
    await client.expect(hearth.folder, 'clone', '--quiet', '--filter=blob:none', '--no-checkout', readers.http, copy);
    t.equal(await client.expect(copy, 'show', `${ids[0]}:file`), 'one');
  });

  const places = (id: string) => [
    `/repos/alice/work/commit/${id}`,
    `/repos/alice/work/commit/${id}.patch`,
    `/repos/alice/work/tree/${id}`,
    `/repos/alice/work/blob/${id}/file`,
    `/repos/alice/work/raw/${id}/file`,
    `/repos/alice/work/commits/${id}`,
    `/repos/alice/work/blame/${id}/file`,
    `/repos/alice/work/archive/${id}.zip`,
    `/api/v1/repos/alice/work/commits/${id}`,
    `/api/v1/repos/alice/work/commits?ref=${id}`,
    `/api/v1/repos/alice/work/commits?after=${id}.0`,
    `/api/v1/repos/alice/work/tree?ref=${id}`,
    `/api/v1/repos/alice/work/commits/${id.slice(0, 10)}`,
  ];
  const status = async (place: string, headers: Record<string, string>) =>
    (await fetch(hearth.url + place, { headers, redirect: 'manual' })).status;
  const bearer = ({ token }: { token: string }) => ({ authorization: `Bearer ${token}` });
  for (const [who, headers] of [
    ['a person without access', {}],
    ['bob', { ...bearer(bob), cookie: `hearth_session=${bob.session}` }],
  ] as const) {
    await t.test(`pages and API for ${who}`, async (t) => {
      for (const place of places(preserved)) t.ok([200, 303, 301].includes(await status(place, headers)), place);
      for (const place of places(lost)) t.equal(await status(place, headers), 404, place);
      const compared = await (
        await fetch(`${hearth.url}/repos/alice/work/compare/${preserved}...${lost}`, { headers })
      ).text();
      t.notMatch(compared, 'a secret');
    });
  }
  t.equal(
    await status(`/api/v1/repos/alice/work/commits/${lost}`, bearer(alice)),
    200,
    'who may push can look at what was pushed away',
  );
});
