import t from 'tap';
import { signedIn, startWeb, visitor } from '../../fixtures/web-fixture.ts';
import type { PageResponse } from '../../fixtures/web-fixture.ts';

t.test('security E03, SPEC §5, §7 missing, private and forbidden are the same bytes', async (t) => {
  const web = await startWeb(t);
  const alice = await signedIn(web, 'alice');
  await alice.post('/repos', { name: 'ledger', visibility: 'PRIVATE' });
  await alice.post('/repos', { name: 'garden', visibility: 'PUBLIC' });
  const bob = await signedIn(web, 'bob');
  const comparable = ({ status, headers, body }: PageResponse) => {
    const { date: _d, 'x-request-id': _id, ...rest } = headers;
    return { status, headers: rest, body };
  };
  for (const [who, browser] of [
    ['anonymous', visitor(web)],
    ['a person without access', bob],
  ] as const) {
    const missing = comparable(await browser.get('/repos/alice/none'));
    t.equal(missing.status, 404);
    const same = [
      '/repos/alice/ledger',
      '/repos/ALICE/Ledger',
      '/repos/nobody/none',
      '/repos/alice/ledger/settings',
      '/repos/alice/garden/settings',
      '/repos/alice/none/settings',
      '/alice/ledger',
      '/alice/none',
      '/alice/ledger.git',
      '/repos/alice/constructor',
      '/nobody',
    ];
    for (const path of same) t.same(comparable(await browser.get(path)), missing, `${who} at ${path}`);
    t.notMatch(missing.body, 'none', 'the body does not repeat the path');
    const forms = [
      '/repos/alice/ledger/settings/delete',
      '/repos/alice/garden/settings/delete',
      '/repos/alice/none/settings/delete',
    ];
    const [first, ...others] = await Promise.all(forms.map((path) => browser.post(path, { confirm: 'alice/ledger' })));
    for (const other of others) t.same(comparable(other), comparable(first!), `${who} posting`);
    t.equal(first?.status, 404);
  }
  t.match((await visitor(web).get('/repos/alice/none')).body, /href="\/login" data-return/);
});
