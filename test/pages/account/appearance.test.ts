import t from 'tap';
import { signedIn, startWeb, visitor } from '../../fixtures/web-fixture.ts';
import type { PageResponse } from '../../fixtures/web-fixture.ts';

const location = ({ headers }: PageResponse): string => headers.location ?? '';

t.test('appearance is stored in the browser, signed in or not', async (t) => {
  const web = await startWeb(t);
  const browser = visitor(web);
  t.match((await browser.get('/login')).body, '<html lang="en" data-theme="auto">');
  const saved = await browser.post('/settings/appearance', {
    theme: 'dark',
    clone: 'ssh',
    next: '/settings/appearance?done=appearance-saved',
  });
  t.equal(location(saved), '/settings/appearance?done=appearance-saved');
  t.match((await browser.get('/login')).body, '<html lang="en" data-theme="dark">');
  await browser.post('/settings/appearance', { theme: '"><script>' });
  t.match((await browser.get('/login')).body, '<html lang="en" data-theme="auto">');
  const alice = await signedIn(web, 'alice');
  await alice.post('/repos', { name: 'kiln', visibility: 'PUBLIC' });
  t.match((await browser.get('/repos/alice/kiln')).status, 200);
});
