// The facts in the head of pages for programs that preview links, read feeds and clone.
import t from 'tap';
import { sampleImages } from '../../images/sample-images.ts';
import { startHearth } from '../../fixtures/start-hearth.ts';

const description = 'Fires "pots" & <b>tiles</b>';
const escaped = 'Fires &quot;pots&quot; &amp; &lt;b&gt;tiles&lt;/b&gt;';

/** Pages below a repository, with their expected title, description and feed; null for none. */
const pages: readonly [path: string, title: string | null, description: string | null, feed: string | null][] = [
  ['', 'alice/NAME', escaped, '/releases.atom'],
  ['/issues', 'alice/NAME', escaped, '/issues.atom'],
  ['/issues/1', 'Too &lt;hot&gt;', 'alice/NAME#1', '/issues/1.atom'],
  ['/pulls', 'alice/NAME', escaped, '/pulls.atom'],
  ['/pulls/2', 'Cool it', 'alice/NAME#2', '/pulls/2.atom'],
  ['/releases', 'alice/NAME', escaped, '/releases.atom'],
  ['/releases/tag/v1', 'The first · alice/NAME', escaped, null],
  ['/commits/main', null, null, '/commits/main.atom'],
  ['/settings', null, null, null],
];

t.test('pages of public repositories have a preview, and every page with a feed names it', async (t) => {
  const hearth = await startHearth(t);
  const { origin } = new URL(hearth.url);
  const alice = await hearth.addPerson('alice');
  const headers = { Authorization: `token ${alice.token}`, 'Content-Type': 'application/json' };
  const api = async (path: string, sent: object, method = 'POST'): Promise<void> => {
    const response = await fetch(`${origin}/api/v1/${path}`, { method, headers, body: JSON.stringify(sent) });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  };
  const read = async (path: string, session: string | null): Promise<string> => {
    const response = await fetch(`${origin}${path}`, {
      headers: session === null ? {} : { Cookie: `hearth_session=${session}` },
    });
    t.equal(response.status, 200, path);
    return response.text();
  };
  const content = Buffer.from('hot\n').toString('base64');
  const names = ['empty', 'kiln', 'pictured', 'secret'] as const;
  for (const name of names) {
    const isPrivate = name === 'secret';
    await api('user/repos', {
      name,
      description,
      private: isPrivate,
      auto_init: name !== 'empty',
      default_branch: 'main',
    });
    if (name === 'empty') continue;
    const at = `repos/alice/${name}`;
    await api(`${at}/issues`, { title: 'Too <hot>' });
    await api(`${at}/contents/heat.txt`, { content, message: 'Cool', branch: 'main', new_branch: 'cool' });
    await api(`${at}/pulls`, { title: 'Cool it', head: 'cool', base: 'main' });
    await api(`${at}/releases`, { tag_name: 'v1', name: 'The first', target_commitish: 'main' });
  }
  await api('repos/alice/pictured/avatar', { image: sampleImages['image/png'].toString('base64') });

  for (const name of ['kiln', 'pictured'] as const) {
    for (const [path, title, about, feed] of pages) {
      const page = await read(`/repos/alice/${name}${path}`, path === '/settings' ? alice.session : null);
      const named = (text: string): string => text.replace('NAME', name);
      const facts = new Map(
        [...page.matchAll(/<meta property="og:([a-z_]+)" content="([^"]*)">/g)].map(([, key, value]) => [key, value]),
      );
      if (title === null) t.equal(facts.size, 0, `${path}: no preview`);
      else {
        t.equal(facts.get('title'), named(title), path);
        t.equal(facts.get('description'), named(about!), path);
        t.equal(facts.get('url'), `${origin}/repos/alice/${name}${path}`, path);
        const image = name === 'kiln' ? /^\/assets\/\w+-preview\.png$/ : /^\/repos\/alice\/pictured\/image\?v=\d+$/;
        const address = facts.get('image')!;
        t.match(address.slice(origin.length), image, path);
        const picture = await fetch(address);
        t.match([picture.status, picture.headers.get('content-type')], [200, 'image/png'], 'which a stranger can read');
      }
      const feeds = [
        ...page.matchAll(/<link rel="alternate" type="application\/atom\+xml" title="[^"]+" href="([^"]+)">/g),
      ];
      t.strictSame(
        feeds.map(([, href]) => href),
        feed === null ? [] : [`/repos/alice/${name}${feed}`],
        path,
      );
      for (const [, href] of feeds) await read(href!, null);
    }
  }
  for (const [path] of pages)
    t.notMatch(await read(`/repos/alice/secret${path}`, alice.session), /"og:|twitter:/, `private: ${path}`);
  for (const [name, session] of [
    ['empty', null],
    ['kiln', null],
    ['secret', alice.session],
  ] as const)
    t.match(
      await read(`/repos/alice/${name}`, session),
      `<link rel="vcs-git" title="alice/${name}" href="${origin}/git/alice/${name}.git">`,
    );
});
