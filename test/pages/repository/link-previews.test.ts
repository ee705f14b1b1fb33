// What the page of a repository tells programs that preview links.
import t from 'tap';
import { localAdministrator } from '../../../src/access/index.ts';
import { signedIn, startWeb, visitor } from '../../fixtures/web-fixture.ts';

t.test('a public repository has a title, a description and a feed for previews, a private one none', async (t) => {
  const web = await startWeb(t);
  const alice = await signedIn(web, 'alice');
  const description = 'Fires "pots" & <b>tiles</b>';
  for (const [name, visibility] of [
    ['kiln', 'PUBLIC'],
    ['secret', 'PRIVATE'],
  ] as const) {
    await web.modules.repositories.create(localAdministrator, { owner: 'alice', name, visibility, description });
  }
  const open = (await visitor(web).get('/repos/alice/kiln')).body;
  t.match(open, '<meta property="og:title" content="alice/kiln">');
  t.match(open, 'content="Fires &quot;pots&quot; &amp; &lt;b&gt;tiles&lt;/b&gt;"');
  t.match(open, '<link rel="alternate" type="application/atom+xml" href="/repos/alice/kiln/releases.atom">');
  t.notMatch((await alice.get('/repos/alice/secret')).body, /og:|releases\.atom/, 'nobody previews what is private');
});
