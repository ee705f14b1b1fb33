// Documents of repositories: rendered in the worker pool, by their content, with links put in afterwards.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import { embedded } from '../../../src/embedded/index.ts';
import { cacheStatistics, chargeCpuTime, silentLogger } from '../../../src/kernel/index.ts';
import { fillLinks, placeholders } from '../../../src/pages/markdown/link-placeholders.ts';
import { prepareDocument } from '../../../src/pages/markdown/prepare-document.ts';
import { noReferences } from '../../../src/pages/markdown/reference-links.ts';
import { fillDocument } from '../../../src/pages/markdown/render-document.ts';
import { renderMarkdown } from '../../../src/pages/markdown/render-markdown.ts';
import { repositoryLinks } from '../../../src/pages/markdown/repository-links.ts';
import { createWorkerPool } from '../../../src/workers/index.ts';
import type { WorkerPool } from '../../../src/workers/index.ts';
import { runGit } from '../../fixtures/git-repositories.ts';
import { hostileDocuments, hostileWorkflows } from '../../fixtures/hostile-files.ts';
import { startHearth } from '../../fixtures/start-hearth.ts';

const place = (ref: string, folder = '') => ({
  repositoryUrl: '/repos/alice/work',
  ref,
  folder: Buffer.from(folder),
  showsRemoteImages: false,
});

/** As pages render a document, with links relative to its place. */
async function renderDocument(
  workers: WorkerPool,
  oid: string,
  { repositoryUrl: client, showsRemoteImages, ...at }: ReturnType<typeof place>,
  source: () => string,
) {
  const document = await prepareDocument(workers, { key: oid, client, source, showsRemoteImages, origin: null });
  const links = repositoryLinks({ repositoryUrl: client, showsRemoteImages, ...at });
  return fillDocument(document, { links, references: noReferences, origin: null, taskForm: null });
}

/** Pools of all tests here: what their caches missed is in one sum, which shrinks when one of them is collected. */
const opened: WorkerPool[] = [];

function openWorkers(t: Test) {
  const workers = createWorkerPool({ embedded, logger: silentLogger });
  opened.push(workers);
  t.teardown(() => workers.stop());
  return workers;
}

t.test('placeholders and what is put in for them are what the renderer would have written', async (t) => {
  const documents = [
    '[a](b.md) [c](../d%20e/f.md#part) [root](/x) ![i](p/q.png?x) <a href="a&amp;b.md" title="href=&quot;/.page/x&quot;">t</a>',
    '[far](https://example.org/.page/x) [same](//example.org/.image/y) [top](#part) <img src="z.png" width=4 alt="src=&quot;/.image/q&quot;">',
    '`href="/.page/no"` and <p title=\'<a href="/.page/no">\'>x</p> [forged](/.page/../up.md) [again](/.image/x)',
    '[q](a"b<c>d.md) [![badge](b.svg)](c.md)\n\n[r]: <e f.md>\n[r]',
  ];
  const links = repositoryLinks(place('main', 'docs'));
  for (const source of documents)
    t.equal(fillLinks(renderMarkdown(source, placeholders), links), renderMarkdown(source, links), source);
});

t.test('a document is rendered once for all commits, folders and branches that have it', async (t) => {
  const workers = openWorkers(t);
  let callCount = 0;
  const render = (ref: string, folder = '') =>
    renderDocument(workers, 'oid', place(ref, folder), () => ((callCount += 1), '[a](b.md) ![c](d.png)'));
  const rendered = [await render('main'), await render('v1', 'docs'), await render('0'.repeat(40))];
  t.strictSame(
    rendered.map((document) => 'html' in document && /href="([^"]*)".*src="([^"]*)"/.exec(document.html)?.slice(1)),
    [
      ['/repos/alice/work/blob/main/b.md', '/repos/alice/work/raw/main/d.png'],
      ['/repos/alice/work/blob/v1/docs/b.md', '/repos/alice/work/raw/v1/docs/d.png'],
      [`/repos/alice/work/blob/${'0'.repeat(40)}/b.md`, `/repos/alice/work/raw/${'0'.repeat(40)}/d.png`],
    ],
  );
  t.equal(callCount, 1);
});

t.test('a hostile document stops nothing meanwhile, and is shown rendered or as text with a word on why', async (t) => {
  const workers = openWorkers(t);
  for (const [name, source] of Object.entries(hostileDocuments)) {
    let isOver = false;
    let turns = 0;
    const document = renderDocument(workers, name, place('main'), () => source).finally(() => (isOver = true));
    while (!isOver) {
      turns += 1;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    t.ok(turns > 5, `${name}: the event loop went on, ${turns} times`);
    const shown = await document;
    if ('html' in shown) t.match(shown.html, /^<|^!\[/, name);
    else t.match(shown, { text: source, note: /^This document is shown as text because/ }, name);
  }
});

t.test('rendering is charged to the client that asked, and a cached document costs nothing', async (t) => {
  const workers = openWorkers(t);
  const costOf = async (ref: string) => {
    let cost = 0;
    await chargeCpuTime(
      (ms) => (cost += ms),
      () => renderDocument(workers, 'oid', place(ref), () => '# a\n\ntext\n\n'.repeat(1_000)),
    );
    await new Promise(setImmediate);
    return cost;
  };
  t.ok((await costOf('main')) > 0);
  t.equal(await costOf('other'), 0);
});

t.test('links in a folder with a long path do not multiply without end', async (t) => {
  const source = Array.from({ length: 12_000 }, (_, at) => `[${at}](${at})`).join(' ');
  const html = fillLinks(renderMarkdown(source, placeholders), repositoryLinks(place('main', 'folder/'.repeat(500))));
  t.ok(html.length < 8 * 1024 * 1024);
  t.match(html.slice(-40), /<a >11999<\/a>/);
});

t.test('signed out, the page of workflows and a README are read once for all clients', async (t) => {
  const { modules, url, folder, addPerson } = await startHearth(t);
  const alice = await addPerson('alice');
  const viewer = {
    kind: 'person' as const,
    id: alice.id,
    username: 'alice',
    isAdministrator: false,
    via: 'session' as const,
    scope: 'admin' as const,
    repositoryIds: null,
  };
  await modules.repositories.create(viewer, { name: 'site', visibility: 'PUBLIC' });
  const found = await modules.repositories.find(viewer, 'alice', 'site');
  const work = path.join(folder, 'work');
  mkdirSync(path.join(work, '.hearth/workflows'), { recursive: true });
  for (const [at, { text }] of Object.values(hostileWorkflows).entries())
    writeFileSync(path.join(work, `.hearth/workflows/h${at}.yml`), text);
  writeFileSync(path.join(work, 'README.md'), '# Site\n');
  for (const line of ['init -q -b main', 'add --all', 'commit -q -m x', `push -q ${found.path} main`])
    await runGit(line.split(' '), { cwd: work });
  const misses = () => cacheStatistics().find(({ name }) => name === 'worker results')?.misses;
  const pages = [
    '/repos/alice/site/runs/workflows',
    '/repos/alice/site/tree/main',
    '/repos/alice/site/blob/main/README.md',
  ];
  let callCount = 0;
  const viewAll = async (): Promise<number> => {
    const before = misses() ?? 0;
    for (const page of pages) t.equal((await fetch(`${url}${page}?${(callCount += 1)}`)).status, 200);
    return misses()! - before;
  };
  t.ok((await viewAll()) > 0);
  // On a busy machine a first view may have found no thread up; sooner or later all is known.
  for (let view = 0; view < 20 && (await viewAll()) > 0; view += 1);
  t.equal(await viewAll(), 0);
});
