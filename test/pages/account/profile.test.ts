import t from 'tap';
import { extractMain, signedIn, startWeb, visitor } from '../../fixtures/web-fixture.ts';

t.test('a person’s page shows what the viewer may see', async (t) => {
  const web = await startWeb(t);
  const alice = await signedIn(web, 'alice');
  await alice.post('/settings/profile', {
    display_name: 'Alice',
    bio: 'Fires clay.\nOften.',
    website: 'https://alice.example.org/',
  });
  await alice.post('/repos', { name: 'ledger', visibility: 'PRIVATE' });
  await alice.post('/repos', { name: 'garden', visibility: 'PUBLIC' });
  const seen = extractMain(await visitor(web).get('/users/alice'));
  t.match(seen, /<h1><span>Alice<\/span>/);
  t.match(seen, /href="https:\/\/alice\.example\.org\/" rel="nofollow noopener">alice\.example\.org</);
  t.match(seen, 'garden');
  t.notMatch(seen, 'ledger');
  t.match(extractMain(await alice.get('/users/alice')), 'ledger');
  t.equal((await alice.post('/settings/profile', { website: 'javascript:alert(1)' })).status, 422);
  const avatar = await visitor(web).get(`/avatars/${alice.id}.svg`);
  t.match(avatar, {
    status: 200,
    headers: { 'content-type': 'image/svg+xml', 'content-security-policy': /sandbox/, 'cache-control': /immutable/ },
  });
  for (const bad of ['x.svg', `${alice.id}.png`, `${alice.id}.svg.svg`.slice(1), '..svg'])
    t.equal((await visitor(web).get(`/avatars/${bad}`)).status, 404, bad);
});

t.test('SPEC §4.4 a profile names organisations only to who may read their members', async (t) => {
  const web = await startWeb(t);
  const anonymous = visitor(web);
  const ida = await signedIn(web, 'ida');
  const jane = await signedIn(web, 'jane');
  await ida.post('/orgs', { name: 'choir' });
  await ida.post('/orgs/choir/members', { username: 'jane', role: 'GUEST' });
  t.match(extractMain(await jane.get('/users/jane')), /href="\/orgs\/choir"/, 'to oneself');
  t.match(extractMain(await ida.get('/users/jane')), /href="\/orgs\/choir"/, 'to its OWNER');
  t.notMatch(extractMain(await jane.get('/users/ida')), /choir/, 'not to a GUEST');
  t.notMatch(extractMain(await anonymous.get('/users/jane')), /choir/, 'not to visitors');
});
