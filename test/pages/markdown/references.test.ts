// References on pages: links for those who may see what they name, text for all others, and fresh when it changes.
import t from 'tap';
import { measureCpuTime, mainThreadMs } from '../../fixtures/thread-cpu.ts';
import { runGit } from '../../fixtures/git-repositories.ts';
import { sendRequest, fillRepository, extractMain, signedIn, startWeb } from '../../fixtures/web-fixture.ts';

t.setTimeout(180_000);

const viewerOf = (id: string, username: string) => ({
  kind: 'person' as const,
  id,
  username,
  isAdministrator: false,
  via: 'session' as const,
  scope: 'admin' as const,
  repositoryIds: null,
});

async function startForge(t: Parameters<typeof startWeb>[0]) {
  const web = await startWeb(t);
  const { repositories, issues, accounts } = web.modules;
  const [alice, bob] = [await signedIn(web, 'alice'), await signedIn(web, 'bob')];
  const person = await accounts.personByUsername('alice');
  const viewer = viewerOf(person.id, 'alice');
  for (const [name, visibility] of [
    ['roof', 'PUBLIC'],
    ['garden', 'PUBLIC'],
    ['cellar', 'PRIVATE'],
  ] as const) {
    await repositories.create(viewer, { name, visibility });
    await issues.open(viewer, { owner: 'alice', name }, { title: `Issue of ${name} <b>` });
  }
  const { path } = await repositories.find(viewer, 'alice', 'roof');
  return { web, alice, bob, viewer, path };
}

const message = 'Mend #1 and #2 (alice/cellar#1)\n\nSee alice/garden#1, alice/absent#1, @bob and @nobody.';

t.test('links in commit messages, and only to what the viewer may see', async (t) => {
  const { web, alice, bob, viewer, path } = await startForge(t);
  await fillRepository(t, path, { 'a.txt': 'a\n' });
  const tip = (await runGit(['rev-parse', 'main'], { cwd: path })).trim();
  const lost = (await runGit(['commit-tree', `${tip}^{tree}`, '-p', tip, '-m', 'overwritten'], { cwd: path })).trim();
  const made = await runGit(
    [
      'commit-tree',
      `${tip}^{tree}`,
      '-p',
      tip,
      '-m',
      `${message}\n\nAfter ${tip.slice(0, 8)}, not ${'abcdef12'.repeat(5)} nor ${lost}.\n${web.origin}/repos/alice/garden/issues/1, ${web.origin}/repos/alice/cellar/issues/1`,
    ],
    {
      cwd: path,
    },
  );
  const oid = made.trim();
  await runGit(['update-ref', 'refs/heads/main', oid], { cwd: path });
  await runGit(['branch', 'old', tip], { cwd: path });
  await runGit(['tag', '--annotate', '--message', `Version 1\n\n${message}`, 'v1', tip], { cwd: path });
  const pages = [
    '/repos/alice/roof/commits/main',
    `/repos/alice/roof/commit/${oid}`,
    '/repos/alice/roof',
    '/repos/alice/roof/compare/old...main',
    '/repos/alice/roof/branches',
    '/repos/alice/roof/tree/main',
    '/repos/alice/roof/blob/main/a.txt',
    '/repos/alice/roof/tags',
  ];
  for (const target of pages) {
    for (const [name, response] of [
      ['alice', await alice.get(target)],
      ['bob', await bob.get(target)],
      ['nobody', await sendRequest(web, target)],
    ] as const) {
      const page = extractMain(response);
      // The file has its first commit.
      if (target.includes('/blob/')) t.notMatch(page, 'class="reference"');
      else {
        t.match(
          page,
          '<a class="reference" href="/repos/alice/roof/issues/1" title="Open: Issue of roof &lt;b&gt;">#1</a>',
          `${target} ${name}`,
        );
        t.equal(page.includes('href="/repos/alice/cellar/issues/1"'), name === 'alice', `${target} ${name}`);
      }
      t.notMatch(page, /issues\/2"/, 'there is no #2');
    }
  }
  for (const target of pages.slice(0, 2)) {
    const page = extractMain(await sendRequest(web, target));
    t.match(page, '<a class="reference" href="/repos/alice/garden/issues/1"');
    t.match(page, '<a class="reference" href="/users/bob">@bob</a>');
    t.match(page, `<a class="reference" href="/repos/alice/roof/commit/${tip}">${tip.slice(0, 8)}</a>`);
    t.notMatch(page, /absent\/issues|users\/nobody|commit\/abcdef12/);
    t.notMatch(page, `commit/${lost}`, 'a commit that no ref leads to');
    t.notMatch(page, 'Issue of cellar');
    t.match(
      page,
      `${web.origin}/repos/alice/cellar/issues/1</a>`,
      'one whole address is short, the hidden one stays whole',
    );
  }

  const titled = (state: string) => `title="${state}: Issue of roof &lt;b&gt;"`;
  await web.modules.issues.close(viewer, { owner: 'alice', name: 'roof', number: 1 });
  t.match(extractMain(await sendRequest(web, pages[0]!)), titled('Closed'), 'a cached page follows');
  await web.modules.issues.trash(viewer, { owner: 'alice', name: 'roof', number: 1 });
  t.notMatch(extractMain(await sendRequest(web, pages[0]!)), '/repos/alice/roof/issues/1');
  await web.modules.repositories.changeVisibility(viewer, 'alice', 'garden', 'PRIVATE');
  t.notMatch(extractMain(await sendRequest(web, pages[0]!)), 'href="/repos/alice/garden/issues/1"');
  t.match(extractMain(await alice.get(pages[0]!)), 'href="/repos/alice/garden/issues/1"');
});

t.test('links in documents; code, formulas and boxes beside them', async (t) => {
  const { web, alice, bob, path } = await startForge(t);
  const own = `${web.origin}/repos/alice`;
  await fillRepository(t, path, {
    'README.md': [
      '# Roof #1',
      `See #1, \`#1\`, alice/cellar#1, @bob, ${own}/garden/issues/1 and ${own}/cellar/issues/1.`,
      '- [x] done :tada:',
      '```ts\nconst a = 1;\n```',
      'Area $a^2$.',
      '```mermaid\ngraph TD\n```',
    ].join('\n\n'),
  });
  for (const target of ['/repos/alice/roof', '/repos/alice/roof/blob/main/README.md']) {
    // On a busy machine a first view may have found no thread up.
    const isComplete = (page: string): boolean => page.includes('x-keyword') && page.includes('<msup>');
    for (let view = 0; view < 20 && !isComplete(extractMain(await alice.get(target))); view += 1);
    const [hers, his] = [extractMain(await alice.get(target)), extractMain(await bob.get(target))];
    for (const page of [hers, his]) {
      t.match(
        page,
        /<h2 id="user-content-roof-1"><a class="anchor" href="#user-content-roof-1" aria-label="Link to this heading"><\/a>Roof <a href="\/repos\/alice\/roof\/issues\/1" class="reference" title="Open: [^"]*">#1<\/a><\/h2>/,
      );
      t.match(page, '<code>#1</code>');
      t.match(page, '<a href="/users/bob" class="reference">@bob</a>');
      t.match(page, />alice\/garden#1<\/a>/);
      t.match(page, '<input type="checkbox" disabled aria-label="done" checked /> done 🎉');
      t.match(page, '<span class="x-keyword">const</span>');
      t.match(page, '<msup><mi>a</mi>');
      t.match(page, '<code class="language-mermaid">graph TD\n</code>');
      t.notMatch(page, '\0');
    }
    t.match(hers, 'href="/repos/alice/cellar/issues/1" class="reference"');
    t.notMatch(his, 'cellar/issues/1" class="reference"');
    t.match(his, `>${own}/cellar/issues/1</a>`, 'as it was written');
  }
});

t.test('ten thousand references are one bounded question', async (t) => {
  const { web, path } = await startForge(t);
  await fillRepository(t, path, {
    'README.md': Array.from({ length: 10_000 }, (_, at) => `#${at + 1} a${at}/b#1 @p${at}`)
      .join(' ')
      .slice(0, 120_000),
  });
  const { result, cpuMs } = await measureCpuTime(() => sendRequest(web, '/repos/alice/roof/blob/main/README.md'));
  t.equal(result.body.match(/class="reference"/g)?.length, 1);
  t.ok(cpuMs < 2 * mainThreadMs, `${cpuMs} ms for a document of twice the size of a comment`);
});

t.test('links in titles of runs', async (t) => {
  const { web, alice, path } = await startForge(t);
  await fillRepository(t, path, {
    '.hearth/workflows/build.yml':
      "name: Build\nrun-name: 'Mend #1 of alice/cellar#1'\non: {workflow_dispatch: }\njobs: {a: {runs-on: x, steps: [{run: 'true'}]}}\n",
  });
  const { status, headers } = await alice.post('/repos/alice/roof/runs', { workflow: 'build.yml', ref: 'main' });
  t.equal(status, 303);
  for (const target of ['/repos/alice/roof/runs', new URL(headers.location!, web.origin).pathname]) {
    const [hers, others] = [extractMain(await alice.get(target)), extractMain(await sendRequest(web, target))];
    for (const page of [hers, others])
      t.match(
        page,
        '<a class="reference" href="/repos/alice/roof/issues/1" title="Open: Issue of roof &lt;b&gt;">#1</a>',
      );
    t.match(hers, 'href="/repos/alice/cellar/issues/1"');
    t.notMatch(others, 'href="/repos/alice/cellar/issues/1"');
  }
});
