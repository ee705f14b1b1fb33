// Images of other hosts in documents: through the proxy, or links where the administrator switched it off.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import type { Test } from 'tap';
import { sendRequest, fillRepository, signedIn, startWeb } from '../../fixtures/web-fixture.ts';

t.setTimeout(120_000);

const strict = "img-src 'self' data:;";
const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(1)</script></svg>';

/** A host with one image. */
async function startHost(t: Test): Promise<{ host: string; requestCount: () => number }> {
  let requestCount = 0;
  const server = createServer((_request, response) => {
    requestCount += 1;
    response.writeHead(200, { 'Content-Type': 'image/svg+xml', 'Set-Cookie': 'a=b', 'X-Frame-Options': 'x' }).end(svg);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, requestCount: () => requestCount };
}

for (const allowed of ['false', 'true']) {
  t.test(`SERVICE_REPOSITORIES_REMOTE_IMAGES=${allowed}`, async (t) => {
    const { host, requestCount } = await startHost(t);
    const web = await startWeb(t, {
      env: { SERVICE_REPOSITORIES_REMOTE_IMAGES: allowed, SERVICE_REPOSITORIES_REMOTE_IMAGE_HOSTS: host },
    });
    const alice = await signedIn(web, 'alice');
    await alice.post('/repos', { name: 'kiln', visibility: 'PUBLIC' });
    const { path } = await web.modules.repositories.find({ kind: 'anonymous' }, 'alice', 'kiln');
    await fillRepository(t, path, {
      'README.md': `![badge](http://${host}/b.svg) ![own](${web.origin}/repos/alice/kiln/runs/badge/x)\n`,
    });
    let address: string | undefined;
    for (const target of ['/repos/alice/kiln', '/repos/alice/kiln/blob/main/README.md']) {
      const { body, headers } = await sendRequest(web, target);
      address = /<img src="(\/-\/images\/[^"]+)" alt="badge"/.exec(body)?.[1];
      t.equal(address !== undefined, allowed === 'true', target);
      t.equal(body.includes(`badge (${host})`), allowed === 'false', target);
      t.equal(body.includes('<img src="/repos/alice/kiln/runs/badge/x" alt="own"'), allowed === 'true', target);
      t.notMatch(body, `src="http://${host}`);
      t.match(headers['content-security-policy'], strict);
    }
    t.match(
      (await sendRequest(web, '/repos/alice/kiln/raw/main/README.md')).headers['content-security-policy'],
      "default-src 'none'; sandbox",
    );
    t.equal(requestCount(), 0, 'a page fetches nothing');
    if (address === undefined) return;
    const image = await sendRequest(web, address);
    t.match(image, {
      status: 200,
      body: svg,
      headers: {
        'content-type': 'image/svg+xml',
        'x-content-type-options': 'nosniff',
        'content-security-policy': /^default-src 'none';.* sandbox$/,
        'cache-control': /^public, max-age=\d+$/,
        'content-disposition': 'inline; filename="image.svg"',
      },
    });
    t.notOk(image.headers['set-cookie'], 'nothing else of the other host');
    t.equal((await sendRequest(web, address, { headers: { 'If-None-Match': image.headers.etag! } })).status, 304);
    t.equal(
      (
        await sendRequest(
          web,
          address.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')),
        )
      ).status,
      404,
    );
    t.equal(requestCount(), 1);
  });
}
