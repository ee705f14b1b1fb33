import t from 'tap';
import { extractMain, signedIn, startWeb, visitor } from '../../fixtures/web-fixture.ts';

t.test('pins: anyone who can read pins, moves and unpins', async (t) => {
  const web = await startWeb(t);
  const anonymous = visitor(web);
  const erin = await signedIn(web, 'erin');
  const frank = await signedIn(web, 'frank');
  for (const name of ['one', 'two', 'three']) await frank.post('/repos', { name, visibility: 'PUBLIC' });
  const pins = async (): Promise<string[]> =>
    [
      ...(/<section class="pins"[^]*?<\/section>/.exec((await erin.get('/')).body)?.[0] ?? '').matchAll(
        /href="\/repos\/frank\/(\w+)"/g,
      ),
    ].map(([, name]) => name!);
  for (const name of ['one', 'two', 'three', 'two'])
    t.equal((await erin.post(`/repos/frank/${name}/pin`)).headers.location, `/repos/frank/${name}`);
  t.same(await pins(), ['one', 'two', 'three'], 'pinning twice changes nothing');
  t.match((await erin.get('/repos/frank/one')).body, /action="\/repos\/frank\/one\/unpin"/);
  t.equal((await erin.post('/repos/frank/three/pin/move', { direction: 'up' })).headers.location, '/');
  t.same(await pins(), ['one', 'three', 'two']);
  await erin.post('/repos/frank/one/pin/move', { direction: 'down' });
  t.same(await pins(), ['three', 'one', 'two']);
  await erin.post('/repos/frank/three/pin/move', { direction: 'up' });
  t.same(await pins(), ['three', 'one', 'two'], 'at the end nothing moves');

  await frank.post('/repos/frank/one/settings/visibility', { visibility: 'PRIVATE' });
  t.same(await pins(), ['three', 'two'], 'a pin that cannot be read is hidden');
  t.equal((await erin.post('/repos/frank/one/unpin')).status, 404);
  await frank.post('/repos/frank/one/settings/visibility', { visibility: 'PUBLIC' });
  t.same(await pins(), ['three', 'one', 'two'], 'and comes back');
  t.match(
    extractMain(await anonymous.get('/users/erin')),
    /Pinned[^]*three[^]*one[^]*two/,
    'others see the pins on the profile',
  );
  t.equal((await erin.post('/repos/frank/one/unpin', { next: '/' })).headers.location, '/');
  t.equal(
    (await erin.post('/repos/frank/two/unpin', { next: '//evil.example' })).headers.location,
    '/',
    'security C08',
  );
  await frank.post('/repos/frank/three/settings/delete', { confirm: 'frank/three' });
  t.same(await pins(), []);
  t.equal((await anonymous.post('/repos/frank/one/pin')).headers.location, '/login', 'signed out');
  t.equal((await anonymous.post('/repos/frank/none/pin')).status, 404);
});
