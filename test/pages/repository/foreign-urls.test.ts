import t from 'tap';
import { localAdministrator } from '../../../src/access/index.ts';
import { signedIn, startWeb, visitor } from '../../fixtures/web-fixture.ts';

const table: [from: string, to: string][] = [
  ['issues', 'issues'],
  ['issues/7', 'issues/7'],
  ['issues/7?a=b&c', 'issues/7?a=b&c='],
  ['pulls', 'pulls'],
  ['pull/3', 'pulls/3'],
  ['pull/3/files', 'pulls/3/changes'],
  ['pulls/3/commits', 'pulls/3/commits'],
  ['blob/main/README.md', 'blob/main/README.md'],
  ['blob/a%2Fb/%C3%A9%20x.md', 'blob/a%2Fb/%C3%A9%20x.md'],
  ['tree/main', 'tree/main'],
  ['src/branch/main/docs/a.md', 'tree/main/docs/a.md'],
  ['src/tag/v1', 'tree/v1'],
  ['raw/main/x', 'raw/main/x'],
  ['raw/branch/main/x', 'raw/main/x'],
  ['blame/main/x', 'blame/main/x'],
  ['commit/0123abc', 'commit/0123abc'],
  ['commits/branch/main', 'commits/main'],
  ['commits/main', 'commits/main'],
  ['compare/a...b', 'compare/a...b'],
  ['releases/latest', 'releases/latest'],
  ['releases/tag/v1.0', 'releases/tag/v1.0'],
  ['releases/download/v1/a.tar.gz', 'releases/download/v1/a.tar.gz'],
  ['archive/main.tar.gz', 'archive/main.tar.gz'],
  ['actions', 'runs'],
  ['actions/runs/12', 'runs/12'],
  ['actions/workflows/ci.yml', 'runs'],
  ['actions/workflows/ci.yml/badge.svg', 'runs/badge/ci.yml.svg'],
  ['actions/workflows/a%2Fb.yml/badge.svg?branch=next', 'runs/badge/a%2Fb.yml.svg?branch=next'],
];

t.test('addresses of other forges lead to the page here, alike for what is public, private and absent', async (t) => {
  const web = await startWeb(t);
  await signedIn(web, 'alice');
  const { repositories } = web.modules;
  await repositories.create(localAdministrator, { owner: 'alice', name: 'site', visibility: 'PUBLIC' });
  await repositories.create(localAdministrator, { owner: 'alice', name: 'hidden', visibility: 'PRIVATE' });
  const browser = visitor(web);
  for (const name of ['site', 'hidden', 'absent'])
    for (const [from, to] of table) {
      const { status, headers } = await browser.get(`/alice/${name}/${from}`);
      t.same([status, headers.location], [301, `/repos/alice/${name}/${to}`], `${name}: ${from}`);
    }
  for (const [from, to] of [
    ['/issues', '/dashboard/issues'],
    ['/pulls', '/dashboard/pulls'],
    ['/user/login', '/login'],
    ['/user/settings', '/settings/profile'],
  ] as const) {
    const { status, headers } = await browser.get(from);
    t.same([status, headers.location], [301, to], from);
  }
  for (const absent of [
    '/api/alice/issues',
    '/repos/alice/issues',
    '/alice/site/nonsense',
    '/user/other',
    '/git/a/raw/b',
  ])
    t.equal((await browser.get(absent)).status, 404, absent);
  for (const hostile of [
    '/alice//issues',
    '/%2F%2Fexample.org/site/issues',
    '/alice/site/pull/%00',
    '/alice/site/blob/..%2f..',
  ])
    t.notMatch((await browser.get(hostile)).headers.location ?? '', /^(?:https?:)?\/\//, hostile);
});

t.test('names that lead elsewhere are reserved', async (t) => {
  const web = await startWeb(t);
  for (const username of ['issues', 'pulls', 'user', 'Issues'])
    await t.rejects(web.modules.accounts.addPerson({ username, password: 'a long password' }), {
      reason: 'reserved_handle',
      message: /reserved/,
    });
});
