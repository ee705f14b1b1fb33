// Branches are made and deleted on their page: through the journal, within rights and the default branch's
// protection, and back again.
import t from 'tap';
import { hostileBranches, runGit } from '../../fixtures/git-repositories.ts';
import { sendRequest, fillRepository, signedIn, startWeb, visitor } from '../../fixtures/web-fixture.ts';

t.setTimeout(120_000);

const web = await startWeb(t);
const alice = await signedIn(web, 'alice');
const bob = await signedIn(web, 'bob');
await alice.post('/repos', { name: 'kiln', visibility: 'PUBLIC' });
const B = '/repos/alice/kiln';
const { path, repository } = await web.modules.repositories.find({ kind: 'anonymous' }, 'alice', 'kiln');
await fillRepository(t, path, { 'a.txt': 'one\n' });
const tip = (await web.modules.git.refs.head(path)).oid!;
const refs = async () => Object.fromEntries(await web.modules.git.refs.list(path));

t.test('a branch is made where another is, announced like a push, and its page is the next one', async (t) => {
  const form = (await alice.get(`${B}/branches`)).body;
  t.match(form, /<form class="panel stack" method="post" action="\/repos\/alice\/kiln\/branches">/);
  const done = await alice.post(`${B}/branches`, { name: 'feature/bellows', from: 'main' });
  t.match([done.status, done.headers.location], [303, `${B}/tree/feature/bellows?done=branch-created`]);
  t.equal((await refs())['refs/heads/feature/bellows'], tip);
  t.match((await alice.get(`${B}/branches`)).body, /feature\/bellows/);
  t.match((await alice.get(`${B}/activity`)).body, /feature\/bellows/);
  t.equal((await alice.post(`${B}/branches`, { name: 'by-id', from: tip.slice(0, 10) })).status, 303);
});

t.test('what is refused stays in its fields', async (t) => {
  const cases: [form: Record<string, string>, status: number, says: RegExp][] = [
    [{ name: 'by-id', from: 'main' }, 422, /A branch named by-id already exists/],
    [{ name: 'feature', from: 'main' }, 422, /conflicts with another branch/],
    [{ name: 'a..b', from: 'main' }, 422, /git does not accept this branch name/],
    [{ name: '', from: 'main' }, 422, /git does not accept this branch name/],
    [{ name: '-x', from: 'main' }, 422, /git does not accept this branch name/],
    [{ name: 'fine', from: 'nowhere' }, 422, /no branch, tag or commit with this name/],
    [{ name: 'fine', from: 'main~1' }, 422, /no branch, tag or commit with this name/],
    [{ name: 'fine', from: '--all' }, 422, /no branch, tag or commit with this name/],
  ];
  const before = await refs();
  for (const [form, status, says] of cases) {
    const response = await alice.post(`${B}/branches`, form);
    t.equal(response.status, status, JSON.stringify(form));
    t.match(response.body, says);
    t.match(response.body, /<details class="new-branch" open/);
  }
  t.same(await refs(), before);
});

t.test('a deletion asks first, spares the default branch, and can be undone', async (t) => {
  const page = (await alice.get(`${B}/branches/delete?name=feature%2Fbellows`)).body;
  t.match(page, /All its commits are also in the default branch/);
  const gone = await alice.post(`${B}/branches/delete`, { name: 'feature/bellows', expected: tip });
  t.match([gone.status, gone.headers.location], [303, `${B}/branches?done=branch-deleted`]);
  t.notOk((await refs())['refs/heads/feature/bellows']);
  t.notMatch((await visitor(web).get(`${B}/branches`)).body, /bellows/);
  let lost: string | undefined;
  // Listeners are notified after the response.
  while (lost === undefined) lost = (await web.modules.repositories.pushes.listLostTips({ repository, path }))[0]?.id;
  t.equal((await alice.post(`${B}/activity/restore`, { id: lost, expected: '0'.repeat(40) })).status, 303);
  t.equal((await refs())['refs/heads/feature/bellows'], tip);

  t.equal((await alice.post(`${B}/branches/delete`, { name: 'main', expected: tip })).status, 422);
  t.equal((await refs())['refs/heads/main'], tip);
  t.notMatch((await alice.get(`${B}/branches`)).body, /delete\?name=main/);
  t.equal(
    (await alice.post(`${B}/branches/delete`, { name: 'feature/bellows', expected: '1'.repeat(40) })).status,
    409,
    'it is not where it was seen',
  );
  t.equal((await alice.get(`${B}/branches/delete?name=nowhere`)).status, 404);
  t.equal((await alice.post(`${B}/branches/delete`, { name: 'nowhere', expected: tip })).status, 404);
});

t.test('branches of any name can be deleted', async (t) => {
  for (const name of hostileBranches) await runGit(['update-ref', `refs/heads/${name}`, tip], { cwd: path });
  const { body } = await alice.get(`${B}/branches`);
  const links = [...body.matchAll(/href="(\/repos\/alice\/kiln\/branches\/delete\?name=[^"]*)"/g)].map(([, address]) =>
    address!.replaceAll('&amp;', '&'),
  );
  t.ok(links.length >= hostileBranches.length);
  for (const link of links) t.equal((await alice.get(link)).status, 200, link);
  for (const name of hostileBranches)
    t.equal((await alice.post(`${B}/branches/delete`, { name, expected: tip })).status, 303, name);
});

t.test('only for who may write, and not in an archive', async (t) => {
  const acts: [target: string, form: Record<string, string>][] = [
    [`${B}/branches`, { name: 'theirs', from: 'main' }],
    [`${B}/branches/delete`, { name: 'by-id', expected: tip }],
  ];
  t.notMatch((await bob.get(`${B}/branches`)).body, /New branch|branches\/delete/);
  for (const [target, form] of acts) {
    t.equal((await bob.post(target, form)).status, 404, target);
    t.equal((await visitor(web).post(target, form)).status, 404, target);
    t.equal(
      (
        await sendRequest(web, target, {
          form,
          headers: {
            Origin: 'http://other.example.org',
            Cookie: `hearth_session=${alice.cookies.get('hearth_session')}`,
          },
        })
      ).status,
      403,
      target,
    );
  }
  t.equal((await bob.get(`${B}/branches/delete?name=by-id`)).status, 404);
  await alice.post(`${B}/settings/archive`);
  t.notMatch((await alice.get(`${B}/branches`)).body, /New branch|branches\/delete/);
  for (const [target, form] of acts) t.equal((await alice.post(target, form)).status, 403, target);
  t.ok((await refs())['refs/heads/by-id']);
});
