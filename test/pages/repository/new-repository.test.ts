import t from 'tap';
import { extractMain, fillRepository, signedIn, startWeb, visitor } from '../../fixtures/web-fixture.ts';
import type { PageResponse } from '../../fixtures/web-fixture.ts';

const location = ({ headers }: PageResponse): string => headers.location ?? '';

t.test('a repository from the form to its page, and into the trash', async (t) => {
  const web = await startWeb(t);
  const alice = await signedIn(web, 'alice');
  t.match(extractMain(await alice.get('/')), /Getting started/);
  const taken = { name: 'kiln', description: 'Fires clay', visibility: 'PUBLIC', default_branch: 'main' };
  t.equal(location(await alice.post('/repos', taken)), '/repos/alice/kiln');
  const again = await alice.post('/repos', { ...taken, name: 'KILN', description: 'kept' });
  t.equal(again.status, 422);
  t.match(extractMain(again), /id="name"[^>]*value="KILN"[^>]*aria-describedby="name-error"/);
  t.match(extractMain(again), /value="kept"/);
  t.match(extractMain(again), /value="PUBLIC" checked/);
  t.equal((await alice.post('/repos', { name: '../up', visibility: 'PUBLIC' })).status, 422);
  t.equal((await alice.post('/repos', { name: 'quiet' })).status, 303);
  t.match(extractMain(await alice.get('/repos/alice/quiet')), /Private/, 'what nobody chose to publish is private');

  const empty = extractMain(await alice.get('/repos/alice/kiln'));
  t.match(empty, `git remote add origin ${web.origin}/git/alice/kiln.git`);
  t.match(empty, 'git remote add origin ssh://git@127.0.0.1:2222/alice/kiln.git');
  t.match(empty, /add an SSH key/);
  const reader = extractMain(await visitor(web).get('/repos/alice/kiln'));
  t.match(reader, /This repository is empty/);
  t.notMatch(reader, /git push/, 'a reader is not told to push');

  const { path: bare } = await web.modules.repositories.find({ kind: 'anonymous' }, 'alice', 'kiln');
  await fillRepository(t, bare, { 'README.md': '# Kiln\n\nHot.', 'src/main.c': 'int x;', 'a.txt': 'x'.repeat(1500) });
  const page = extractMain(await visitor(web).get('/repos/alice/kiln'));
  t.match(page, /<bdi class="ref-name">main<\/bdi>[^]*1 branch/);
  t.match(page, /Light the first fire/);
  t.ok(page.indexOf('<bdi>src</bdi>') < page.indexOf('<bdi>README.md</bdi>'), 'folders first');
  t.match(page, /<bdi>a\.txt<\/bdi>[^]*1\.5 kB/);
  t.match(
    page,
    '<h2 id="user-content-kiln"><a class="anchor" href="#user-content-kiln" aria-label="Link to this heading"></a>Kiln</h2>',
  );
  t.match(page, 'SHA256:0123456789abcdefghijklmnopqrstuvwxyzABCDEFG');

  const wrong = await alice.post('/repos/alice/kiln/settings/delete', { confirm: 'kiln' });
  t.equal(wrong.status, 422);
  t.match(extractMain(wrong), /id="confirm-error"/);
  t.equal(
    location(await alice.post('/repos/alice/kiln/settings/delete', { confirm: 'alice/kiln' })),
    '/?done=repository-deleted',
  );
  t.equal((await alice.get('/repos/alice/kiln')).status, 404);
});
