import t from 'tap';
import { edgeCaseUrl, startEdgeCaseWeb } from '../../fixtures/edge-case-web-fixture.ts';
import { lfsPointer, png } from '../../fixtures/edge-case-repository.ts';
import { sendRequest } from '../../fixtures/web-fixture.ts';

t.setTimeout(120_000);

const { web, get } = await startEdgeCaseWeb(t);

t.test('security C03, C05 raw files never act', async (t) => {
  const cases: [file: string, type: string, disposition: RegExp][] = [
    ['src/main.ts', 'text/plain; charset=utf-8', /^inline/],
    ['page.html', 'text/plain; charset=utf-8', /^attachment/],
    ['images/drawing.svg', 'image/svg+xml', /^attachment/],
    ['images/pixel.png', 'image/png', /^inline/],
    ['binary.bin', 'application/octet-stream', /^inline/],
    ['latin1.txt', 'text/plain; charset=windows-1252', /^inline/],
    ['link', 'text/plain; charset=utf-8', /^inline/],
    ['README.md?download=1', 'text/plain; charset=utf-8', /^attachment/],
  ];
  for (const [file, type, disposition] of cases) {
    const { status, headers } = await get(`/raw/v1.0/${file}`);
    t.match([status, headers['content-type']], [200, type], file);
    t.match(
      headers,
      {
        'content-disposition': disposition,
        'content-security-policy': "default-src 'none'; sandbox",
        'x-content-type-options': 'nosniff',
        'cache-control': 'private, no-cache',
      },
      file,
    );
  }
  t.equal((await get('/raw/main/asset.psd')).body, lfsPointer);
  const { headers } = await get('/raw/v1.0/images/pixel.png');
  t.equal(
    (
      await sendRequest(web, `${edgeCaseUrl}/raw/v1.0/images/pixel.png`, {
        headers: { 'If-None-Match': headers.etag ?? '' },
      })
    ).status,
    304,
  );
  t.equal(Number(headers['content-length']), png.length);
  t.match(
    (await get('/raw/v1.0/odd/%3Cimg%20src=x%20onerror=alert(1)%3E')).headers['content-disposition'],
    /filename="_img src_x onerror_alert_1__"; filename\*=UTF-8''%3Cimg%20/,
  );
});
