// What the dashboard says of other servers. Pins, offers and filters: pages.test.ts; checks: ticks.test.ts.
import t from 'tap';
import { signedIn, startWeb } from '../fixtures/web-fixture.ts';

t.setTimeout(120_000);

t.test('web-ui §3 pushes of what is followed, and requests that did not get through', async (t) => {
  const web = await startWeb(t);
  const alice = await signedIn(web, 'alice');
  t.notMatch((await alice.get('/')).body, /Followed elsewhere|Needs attention/, 'nothing without federation');
  const standing = { state: 'PENDING', why: 'failed', attempts: 8, error: 'certificate expired' } as const;
  const push = {
    handle: 'bob/glaze@other.example.org',
    url: 'https://other.example.org/repos/bob/glaze',
    branch: 'main',
    hashBefore: '1'.repeat(40),
    hashAfter: '2'.repeat(40),
    commitCount: 3,
    commits: [],
    pushedAt: web.clock.now() - 60_000,
  };
  const pushes = Array.from({ length: 9 }, () => push);
  const news = {
    pending: [{ id: 'f', followId: 'f', handle: 'carol/<kiln>@other.example.org', url: null, standing }],
  };
  const followedNews = async (_id: string, limit: number) => ({ ...news, pushes: pushes.slice(0, limit) });
  Object.assign(web.modules.federation, { isOperational: true, followedNews });
  const { body } = await alice.get('/');
  t.match(body, /Needs attention[^]*request to follow[^]*carol\/&lt;kiln&gt;@other\.example\.org[^]*was not delivered/);
  t.equal(body.match(/: 3 commits to/g)?.length, 5, 'the newest few');
  t.match(body, /href="https:\/\/other\.example\.org\/repos\/bob\/glaze" rel="nofollow noopener"/);
});
