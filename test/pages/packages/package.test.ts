// Pages of packages over HTTP on the real modules: lists of an owner and of a repository, versions with how to install
// them, README, images and what is attached to them, deleting and restoring, settings; hidden as absent.
import t from 'tap';
import { basic, crateBody, npmBody, pushImage, pypiBody, registry } from '../../http-packages/package-server.ts';
import type { PackageServer } from '../../http-packages/package-server.ts';
import type { Visitor } from '../../fixtures/web-fixture.ts';
import { extractMain, sendRequest, signedIn, startWeb, visitor } from '../../fixtures/web-fixture.ts';

t.setTimeout(120_000);

const web = await startWeb(t);
const alice = await signedIn(web, 'alice');
const bob = await signedIn(web, 'bob');
const anonymous = visitor(web);
for (const [name, visibility] of [
  ['closed', 'PRIVATE'],
  ['open', 'PUBLIC'],
] as const)
  await alice.post('/repos', { name, visibility });
const { secret } = await web.modules.accounts.addToken((await web.modules.owners.resolve('alice'))!.id, {
  name: 'writes',
  access: 'write',
  repositoryIds: null,
  expiresAt: null,
});
const auth = { Authorization: basic(secret) };
const put = (target: string, body: string | Buffer, more: Record<string, string> = {}, method = 'PUT') =>
  sendRequest(web, target, { method, body, headers: { ...auth, ...more } });
const main = async (who: Pick<Visitor, 'get'>, path: string): Promise<string> => extractMain(await who.get(path));

t.test('an owner without packages: how to publish the first one, for those who may', async (t) => {
  const own = await main(alice, '/packages/alice');
  t.match(own, /There are no packages yet/);
  t.match(own, `curl -u alice:YOUR_TOKEN -T my-file.zip ${web.origin}/packages/alice/generic/`);
  for (const who of [bob, anonymous]) {
    const page = await main(who, '/packages/alice');
    t.match(page, /alice has no packages that you can see/);
    t.notMatch(page, /YOUR_TOKEN/);
  }
  t.match(await main(alice, '/repos/alice/open/packages'), /No package is linked to this repository[^]*npm publish/);
  t.equal((await alice.get('/packages/nobody')).status, 404);
});

const readme = '# Ginger\n\n[relative](docs/a.md) <script>alert(1)</script>';

t.test('versions of every format: how to install, README, files; hidden as absent', async (t) => {
  const manifest = { description: 'A <lib>', license: 'MIT', dependencies: { left: '^1' }, readme };
  await put('/packages/alice/npm/@alice%2flib', npmBody('@alice/lib', '1.0.0', manifest), {
    'Content-Type': 'application/json',
  });
  await put('/packages/alice/cargo/api/v1/crates/new', crateBody('demo-crate', '0.1.0', { description: 'A crate' }));
  const sdist = pypiBody('demo', '1.0', {
    fields: { description: 'plain _text_', description_content_type: 'text/x-rst' },
  });
  await put('/packages/alice/pypi/', sdist.body, sdist.headers, 'POST');
  await put('/packages/alice/maven/org/example/lib/1.0/lib-1.0.jar', 'a jar');
  await put('/packages/alice/generic/closed/1.0/tool%20one.txt', 'the tool');

  const list = await main(alice, '/packages/alice');
  for (const name of ['@alice/lib', 'demo-crate', 'demo', 'org.example:lib', 'closed']) t.match(list, name);
  t.notMatch(await main(bob, '/packages/alice'), /closed/);
  t.notMatch(await main(alice, '/packages/alice?format=npm'), /demo-crate/);
  t.match(await main(alice, '/packages/alice?q=zzz'), /No package matches/);
  t.match(await main(alice, '/repos/alice/closed/packages'), />closed</);
  t.match((await alice.get('/repos/alice/closed')).body, /Packages\s*<span class="tab-count">1</);
  t.notMatch((await alice.get('/repos/alice/open')).body, /Packages\s*<span class="tab-count">/);

  const lib = await main(anonymous, '/packages/alice/-/npm/%40alice%2Flib');
  t.match(lib, 'npm install @alice/lib@1.0.0');
  t.match(lib, `npm config set @alice:registry ${web.origin}/packages/alice/npm/`);
  t.match(lib, 'A &lt;lib&gt;');
  t.match(lib, /Ginger<\/h2>/);
  t.notMatch(lib, /<script>alert/);
  t.match(lib, /left \^1/);
  t.match(
    await main(anonymous, '/packages/alice/-/cargo/demo-crate/0.1.0'),
    /cargo add --registry alice demo-crate@0.1.0/,
  );
  t.match(await main(anonymous, '/packages/alice/-/pypi/demo'), /pip install[^<]*demo==1\.0[^]*plain _text_/);
  t.match(
    await main(anonymous, '/packages/alice/-/maven/org.example%3Alib'),
    /&lt;artifactId&gt;lib&lt;\/artifactId&gt;/,
  );

  const file = '/packages/alice/-/generic/closed/1.0/files/tool%20one.txt';
  t.match(await main(alice, '/packages/alice/-/generic/closed'), /curl -u alice:YOUR_TOKEN/);
  t.equal((await alice.get(file)).body, 'the tool', 'with the session');
  for (const who of [bob, anonymous])
    for (const path of ['', '/1.0', '?tab=versions', '/1.0/files/tool%20one.txt']) {
      const [hidden, absent] = [
        await who.get(`/packages/alice/-/generic/closed${path}`),
        await who.get(`/packages/alice/-/generic/absent${path}`),
      ];
      t.equal(hidden.status, 404);
      t.equal(extractMain(hidden), extractMain(absent), path);
    }
  t.equal((await alice.get('/packages/alice/-/unheard/closed')).status, 404);
  t.equal((await alice.get('/packages/alice/-/generic/closed/9.9')).status, 404);
});

const send: PackageServer['send'] = async (method, target, { auth, headers = {}, body } = {}) => {
  const {
    status,
    headers: known,
    body: text,
  } = await sendRequest(web, target.replace(web.origin, ''), {
    method,
    headers: { ...(auth === undefined ? {} : { Authorization: auth }), ...headers },
    ...(body === undefined ? {} : { body }),
  });
  const shown = new Headers(Object.entries(known).map(([name, value]): [string, string] => [name, String(value)]));
  const json = /json/.test(shown.get('content-type') ?? '') && text !== '' ? JSON.parse(text) : null;
  return { status, headers: shown, text, bytes: Buffer.from(text), json };
};
const images = registry({ ...web, send } as unknown as PackageServer, secret);

t.test('an image: platforms, layers, tags, and what is attached to it', async (t) => {
  const labels = { 'org.opencontainers.image.description': 'Serves <tea>' };
  const { digest, manifest } = await pushImage(images, 'alice/app', '1.0', { labels });
  await pushImage(images, 'alice/app', 'sig', {
    layer: 'a signature',
    artifactType: 'application/vnd.dev.cosign.artifact.sig.v1+json',
    subject: { mediaType: 'application/vnd.oci.image.manifest.v1+json', digest, size: manifest.length },
  });
  await pushImage(images, 'alice/app', `${digest.replace(':', '-')}.sbom`, { layer: 'a list' });
  const page = await main(anonymous, '/packages/alice/-/oci/app/1.0');
  t.match(page, `podman pull ${new URL(web.origin).host}/alice/app:1.0`);
  t.match(page, `podman pull ${new URL(web.origin).host}/alice/app@${digest}`);
  const signature = await main(anonymous, '/packages/alice/-/oci/app/sig');
  t.match(signature, `oras pull ${new URL(web.origin).host}/alice/app:sig`, 'container engines take images only');
  t.notMatch(signature, 'podman');
  t.match(page, /linux\/amd64/);
  t.match(page, /Serves &lt;tea&gt;/);
  t.match(page, /Layers[^]*sha256:[0-9a-f]{12}</);
  t.match(page, />Signature<[^]*>SBOM</);
  t.match(await main(anonymous, `/packages/alice/-/oci/app/${encodeURIComponent(digest)}`), /app:1\.0/);
  t.match(await main(anonymous, '/packages/alice/-/container/app/1.0'), /app:1\.0/, 'as Gitea calls it');
});

t.test('what a Sigstore bundle holds is named by its predicate', async (t) => {
  const rows: readonly (readonly [predicate: string | null, kind: string])[] = [
    ['https://sigstore.dev/cosign/sign/v1', 'Signature'],
    ['https://cosign.sigstore.dev/attestation/v1', 'Attestation'],
    ['https://slsa.dev/provenance/v1', 'Attestation'],
    ['https://spdx.dev/Document', 'SBOM'],
    ['https://cyclonedx.org/bom', 'SBOM'],
    ['https://example.org/review', 'Attestation'],
    [null, 'Signature'],
  ];
  for (const [at, [predicate, kind]] of rows.entries()) {
    const { digest, manifest } = await pushImage(images, 'alice/signed', `image-${at}`, { layer: `image ${at}` });
    await pushImage(images, 'alice/signed', `bundle-${at}`, {
      layer: `bundle ${at}`,
      artifactType: 'application/vnd.dev.sigstore.bundle.v0.3+json',
      annotations: predicate === null ? {} : { 'dev.sigstore.bundle.predicateType': predicate },
      subject: { mediaType: 'application/vnd.oci.image.manifest.v1+json', digest, size: manifest.length },
    });
    const kinds = [
      ...(await main(anonymous, `/packages/alice/-/oci/signed/image-${at}`)).matchAll(
        />(Signature|SBOM|Attestation)</g,
      ),
    ];
    t.strictSame(
      kinds.map(([, name]) => name),
      [kind],
      String(predicate),
    );
    t.match(await main(anonymous, `/packages/alice/-/oci/signed/bundle-${at}`), kind, 'and its own page');
  }
});

t.test('a version is deleted and restored by those who may, nobody else is offered it', async (t) => {
  const at = '/packages/alice/-/cargo/demo-crate';
  t.match(await main(alice, `${at}/0.1.0`), /Delete this version/);
  t.notMatch(await main(bob, `${at}/0.1.0`), /Delete this version/);
  t.equal((await bob.post(`${at}/0.1.0/delete`, {})).status, 403);
  t.equal((await anonymous.post(`${at}/0.1.0/delete`, {})).status, 303, 'to the sign-in');
  t.match((await alice.post(`${at}/0.1.0/delete`, {})).headers.location, /tab=versions&done=package-deleted/);
  t.equal((await bob.get(at)).status, 404);
  t.match(await main(alice, at), /All versions are deleted[^]*Restore/);
  t.match(await main(alice, '/packages/alice'), /Deleted[^]*demo-crate[^]*Restore/);
  t.notMatch(await main(bob, '/packages/alice'), /demo-crate/);
  t.equal((await alice.post(`${at}/0.1.0/restore`, {})).headers.location, `${at}/0.1.0?done=package-restored`);
  t.match(await main(bob, at), /demo-crate@0\.1\.0/);
});

t.test('settings: link, end of the link, visibility, deletion', async (t) => {
  const at = '/packages/alice/-/npm/%40alice%2Flib';
  const settings = `${at}/-/settings`;
  t.equal((await bob.get(settings)).status, 403);
  t.match(await main(alice, settings), /Public: everyone/);
  const absent = await alice.post(settings, { action: 'link', repository: 'absent' });
  t.match([absent.status, absent.body], [422, /The owner has no repository with this name\./]);
  t.equal((await alice.post(settings, { action: 'link', repository: 'open' })).status, 303);
  t.match(await main(bob, at), /linked to[^]*alice\/open/);
  t.match(
    await main(bob, at),
    /href="\/repos\/alice\/open\/blob\/main\/docs\/a\.md"/,
    'links of its README lead there',
  );
  await alice.post(settings, { action: 'unlink' });
  t.equal((await bob.get(at)).status, 404);
  await alice.post(settings, { action: 'public' });
  t.equal((await bob.get(at)).status, 200);
  const rules = { action: 'retain', keep: '1', keep_tags: '', older_than_days: '' };
  const noRule = await alice.post(settings, { ...rules, keep: 'many' });
  t.match([noRule.status, noRule.body], [422, /between 1 and 10000[^]*value="many"/]);
  t.equal((await alice.post(settings, rules)).status, 303);
  t.match(await main(alice, settings), /would delete nothing[^]*name="keep"[^>]*value="1"[^]*Remove the rules/);
  await alice.post(settings, { action: 'retain-nothing' });
  t.notMatch(await main(alice, settings), /would delete|Remove the rules/);
  const wrong = await alice.post(settings, { action: 'delete', confirm: 'lib' });
  t.match([wrong.status, wrong.body], [422, /Type @alice\/lib to confirm/]);
  t.equal(
    (await alice.post(settings, { action: 'delete', confirm: '@alice/lib' })).headers.location,
    '/packages/alice?done=package-deleted',
  );
  t.equal((await bob.get(at)).status, 404);
});
