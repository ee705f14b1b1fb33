import t from 'tap';
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { Parser } from 'htmlparser2';
import { hostileNames } from '../../fixtures/git-repositories.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { fillRepository, signedIn, startWeb, visitor } from '../../fixtures/web-fixture.ts';

async function publicKey(t: Parameters<typeof temporaryFolder>[0]): Promise<string> {
  const file = path.join(temporaryFolder(t), 'key');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'laptop', '-f', file]);
  return execFileSync('cat', [`${file}.pub`]).toString();
}

/** What an HTML parser finds that no template wrote: elements that act, handlers, styles, addresses that run. */
function foreignMarkup(body: string): string[] {
  const found: string[] = [];
  const parser = new Parser({
    onopentag(name, attributes) {
      const isOurScript = name === 'script' && /^\/assets\//.test(attributes['src'] ?? '');
      if (/^(?:script|img|iframe|object|b|style)$/.test(name) && !isOurScript) found.push(name);
      for (const [key, value] of Object.entries(attributes)) {
        if (/^on|^style$|marker/.test(key) || /^\s*(?:javascript|data):/i.test(value)) found.push(`${name} ${key}`);
      }
    },
  });
  parser.end(body);
  return found;
}

t.test('security C01 what people write is text on every page', async (t) => {
  const web = await startWeb(t);
  const marker = '"><script>marker</script><img src=x onerror=marker>\'{{marker}}';
  const alice = await signedIn(web, 'alice', { isAdministrator: true });
  await alice.post('/settings/profile', {
    display_name: marker,
    bio: marker,
    website: `https://example.org/?${encodeURIComponent(marker)}`,
  });
  await alice.post('/settings/keys', { title: marker, key: await publicKey(t) });
  await alice.post('/settings/tokens', { name: marker, access: 'read', expires_in: 'never', repos: 'all' });
  await alice.post('/repos', { name: 'kiln', description: marker, visibility: 'PUBLIC' });
  await web.modules.accounts.startSession(alice.id, { address: marker, userAgent: marker });
  const { path: bare } = await web.modules.repositories.find({ kind: 'anonymous' }, 'alice', 'kiln');
  const names = hostileNames.filter((name) => !name.includes('/'));
  await fillRepository(t, bare, {
    ...Object.fromEntries(names.map((name) => [name, marker])),
    'README.md': `# ${marker}\n\n${marker}`,
  });

  const encoded = encodeURIComponent(marker);
  const pages = [
    '/',
    `/?q=${encoded}`,
    `/?after=${encoded}`,
    `/?done=${encoded}`,
    '/users/alice',
    `/users/${encoded}`,
    '/repos/alice/kiln',
    `/repos/alice/${encoded}`,
    '/repos/alice/kiln/settings',
    '/settings/profile',
    '/settings/keys',
    '/settings/tokens',
    '/settings/sessions',
    '/settings/appearance',
    '/admin/invites',
    `/login?next=/${encoded}`,
    `/${encoded}`,
    `/setup?token=${encoded}`,
    '/repos/new',
  ];
  for (const page of pages) {
    for (const browser of [alice, visitor(web)]) {
      const { body, status } = await browser.get(page, {
        'User-Agent': marker,
        Referer: marker,
        'X-Forwarded-Host': marker,
      });
      t.same(foreignMarkup(body), [], page);
      t.not(status, 500, page);
    }
  }
  for (const [target, form] of [
    ['/login', { username: marker, next: marker }],
    ['/repos', { name: marker, description: marker.repeat(20), default_branch: marker }],
    ['/settings/profile', { display_name: marker.repeat(9), bio: marker, website: marker }],
    ['/settings/keys', { title: marker, key: marker }],
    ['/settings/tokens', { name: '', access: marker, expires_in: marker, repos: ['', marker] }],
    ['/repos/alice/kiln/settings/delete', { confirm: marker }],
  ] as [string, Record<string, string | string[]>][]) {
    const { body, status } = await alice.post(target, form);
    t.match(String(status), /^4/, target);
    t.same(foreignMarkup(body), [], target);
  }
  t.same(
    foreignMarkup((await alice.post('/login', { username: 'x' }, { Origin: marker })).body),
    [],
    'the refusal names the origin as text',
  );
});
