// Images of other hosts in documents: links, unless the administrator allows more.
import t from 'tap';
import { ask, fillRepository, signedIn, startWeb } from '../../fixtures/web-fixture.ts';

t.setTimeout(120_000);

for (const allowed of ['false', 'true']) {
  t.test(`SERVICE_REPOSITORIES_REMOTE_IMAGES=${allowed}`, async (t) => {
    const web = await startWeb(t, { env: { SERVICE_REPOSITORIES_REMOTE_IMAGES: allowed } });
    const alice = await signedIn(web, 'alice');
    await alice.post('/repos', { name: 'kiln', visibility: 'PUBLIC' });
    const { path } = await web.modules.repositories.find({ kind: 'anonymous' }, 'alice', 'kiln');
    await fillRepository(t, path, { 'README.md': '![badge](https://img.example.org/b.svg)\n' });
    for (const target of ['/repos/alice/kiln', '/repos/alice/kiln/blob/main/README.md']) {
      const { body, headers } = await ask(web, target);
      t.equal(body.includes('<img src="https://img.example.org/b.svg"'), allowed === 'true', target);
      t.equal(body.includes('badge (img.example.org)'), allowed === 'false', target);
      t.match(
        headers['content-security-policy'],
        allowed === 'true' ? "img-src 'self' data: https:;" : "img-src 'self' data:;",
      );
    }
    t.match(
      (await ask(web, '/repos/alice/kiln/raw/main/README.md')).headers['content-security-policy'],
      "default-src 'none'; sandbox",
    );
  });
}
