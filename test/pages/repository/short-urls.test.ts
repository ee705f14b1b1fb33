import t from 'tap';
import path from 'node:path';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { fillRepository, signedIn, startWeb, visitor } from '../../fixtures/web-fixture.ts';
import type { PageResponse } from '../../fixtures/web-fixture.ts';

const location = ({ headers }: PageResponse): string => headers.location ?? '';

t.test('redirects that save people', async (t) => {
  const web = await startWeb(t);
  const alice = await signedIn(web, 'Alice');
  await alice.post('/repos', { name: 'Kiln', visibility: 'PUBLIC' });
  const browser = visitor(web);
  const leads = async (from: string, to: string) => {
    const response = await browser.get(from);
    t.match([response.status, location(response), response.headers['cache-control']], [301, to, 'no-cache'], from);
  };
  await leads('/alice', '/users/Alice');
  await leads('/users/ALICE', '/users/Alice');
  await leads('/alice/kiln', '/repos/Alice/Kiln');
  await leads('/Alice/Kiln.git', '/repos/Alice/Kiln');
  await leads('/repos/alice/kiln?x=1', '/repos/Alice/Kiln?x=1');
  await leads('/git/Alice/Kiln.git', '/Alice/Kiln.git');
  for (const address of ['/repos/alice/kiln', '/alice/kiln', '/alice/kiln.git', '/repos/alice/none']) {
    const name = address.includes('none') ? 'none' : 'kiln';
    await leads(
      `${address}/info/refs?service=git-upload-pack`,
      `/git/alice/${name}.git/info/refs?service=git-upload-pack`,
    );
  }
  const odd = await browser.get('/git/%2Fevil.example/x');
  t.equal(location(odd), '/%2Fevil.example/x', 'no redirect leaves the server');
  t.equal(location(await alice.get('/settings')), '/settings/profile');
});

t.test('the address in the address bar clones', async (t) => {
  const web = await startWeb(t);
  const alice = await signedIn(web, 'alice');
  await alice.post('/repos', { name: 'kiln', visibility: 'PUBLIC' });
  const { path: bare } = await web.modules.repositories.find({ kind: 'anonymous' }, 'alice', 'kiln');
  await fillRepository(t, bare, { 'a.txt': 'a' });
  const { runGit } = await import('../../fixtures/git-repositories.ts');
  for (const address of ['/repos/alice/kiln', '/alice/kiln', '/alice/kiln.git', '/git/alice/kiln.git']) {
    const folder = temporaryFolder(t);
    await runGit(['clone', '--quiet', web.origin + address, 'copy'], { cwd: folder });
    t.equal((await runGit(['rev-list', '--count', 'HEAD'], { cwd: path.join(folder, 'copy') })).trim(), '1', address);
  }
});
