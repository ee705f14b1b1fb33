// time limit: 120 s
// The wiki of an imported repository: with its history, again and again, and where it cannot be had.
import t from 'tap';
import type { PersonViewer } from '../../src/access/index.ts';
import type { NewImport } from '../../src/imports/index.ts';
import { fixedClock } from '../fixtures/fixed-clock.ts';
import { freePort } from '../fixtures/free-port.ts';
import { startHearth } from '../fixtures/start-hearth.ts';
import type { Hearth, TestPerson } from '../fixtures/start-hearth.ts';
import { startGiteaStub } from './gitea-stub.ts';
import type { GiteaStub } from './gitea-stub.ts';
import { stubWiki } from './stub-git.ts';

t.setTimeout(100_000);

let here: Hearth;
let alice: TestPerson;
let viewer: PersonViewer;
const ports: number[] = [];

t.before(async () => {
  for (let at = 0; at < 3; at += 1) ports.push(await freePort());
  const allowed = ports.map((port) => `127.0.0.1:${port}`).join(',');
  const clock = fixedClock(Date.UTC(2026, 0, 1));
  here = await startHearth(t, { env: { SERVICE_MIRRORS_ALLOWED_HOSTS: allowed }, clock });
  alice = await here.addPerson('alice');
  viewer = {
    kind: 'person',
    id: alice.id,
    username: 'alice',
    isAdministrator: false,
    via: 'session',
    scope: 'admin',
    repositoryIds: null,
  };
});

let count = 0;

async function start(forge: GiteaStub, more: Partial<NewImport> = {}) {
  count += 1;
  const name = `tool-${count}`;
  const address = `${forge.url}/bob/tool`;
  const { id } = await here.modules.imports.start(viewer, { address, token: forge.world.token, name, ...more });
  await here.modules.imports.runDue();
  return { id, name };
}

async function run(id: string): Promise<void> {
  await here.modules.imports.again(viewer, id, {});
  await here.modules.imports.runDue();
}

const find = async (id: string) => (await here.modules.imports.find(id))!;

async function problemsOf(id: string): Promise<string[]> {
  const problems = await here.modules.imports.problems((await find(id)).id);
  return problems.map(({ item, problem }) => `${item}: ${problem}`);
}

/** The titles and contents of the pages of a wiki here. */
async function pagesOf(name: string): Promise<unknown> {
  const { wikis } = here.modules.repositories;
  const wiki = await wikis.find(viewer, 'alice', name);
  const pages = await wikis.pages(wiki);
  return Promise.all(
    pages.map(async ({ title, oid }) => [
      title,
      (await here.modules.git.objects.blob(wiki.path, oid, { maxBytes: 1_000 })).content!.toString('utf8'),
    ]),
  );
}

t.test('a wiki comes along with its history, and a later run brings what is new there', async (t) => {
  const forge = await startGiteaStub(t, { port: ports.pop()! });
  forge.world.repository['has_wiki'] = true;
  const wiki = stubWiki(forge.folder, 'bob/tool', 'master');
  wiki.commit({ 'Home.md': 'Welcome', 'How-to.md': 'So', 'old.rst': 'x', 'notes.txt': 'x' });
  const second = wiki.commit({
    'Home.md': 'Welcome!',
    'How-to.md': 'So',
    'old.rst': 'x',
    'a%2Fb%3F.md': 'E',
    'c%0A.md': 'E',
  });
  const { id, name } = await start(forge);
  t.match(await find(id), { state: 'done', lastError: null });
  const titles = [
    ['Home', 'Welcome!'],
    ['How to', 'So'],
    ['a/b?', 'E'],
    ['c%0A', 'E'],
  ];
  t.strictSame(await pagesOf(name), titles);
  const found = await here.modules.repositories.wikis.find(viewer, 'alice', name);
  t.match(found, { tip: second, branch: 'master' }, 'with its history, on the branch that it has there');
  t.strictSame(await problemsOf(id), ['wiki: 1 pages are not Markdown and are files here, among them old.rst']);

  const authorizations = forge.authorizations.length;
  await run(id);
  t.ok(forge.authorizations.length > authorizations);
  t.equal((await here.modules.repositories.wikis.find(viewer, 'alice', name)).tip, second, 'nothing is new');
  const third = wiki.commit({ 'Home.md': 'Welcome again', 'New.md': 'new' });
  await run(id);
  t.equal((await here.modules.repositories.wikis.find(viewer, 'alice', name)).tip, third);
  t.strictSame(await pagesOf(name), [
    ['Home', 'Welcome again'],
    ['New', 'new'],
  ]);

  await here.modules.repositories.wikis.create(viewer, 'alice', name, { title: 'Ours', content: Buffer.from('ours') });
  const own = (await here.modules.repositories.wikis.find(viewer, 'alice', name)).tip;
  wiki.commit({ 'Home.md': 'Changed there' });
  await run(id);
  t.equal((await here.modules.repositories.wikis.find(viewer, 'alice', name)).tip, own, 'both sides: ours stays');
  t.match((await problemsOf(id)).join('\n'), /wiki: refs\/heads\/master was moved here and there; it stays/);
});

t.test(
  'a wiki that is switched off, left out or without pages brings nothing, and a refused one is named',
  async (t) => {
    const forge = await startGiteaStub(t, { port: ports.pop()! });
    const wanted = async (what: string, more: Partial<NewImport>, problems: RegExp | null) => {
      const { id, name } = await start(forge, more);
      t.match(await find(id), { state: 'done', lastError: null }, what);
      const lines = (await problemsOf(id)).filter((line) => line.startsWith('wiki'));
      t.equal(lines.length, problems === null ? 0 : 1, `${what}: ${lines.join()}`);
      if (problems !== null) t.match(lines[0], problems, what);
      t.equal((await here.modules.repositories.wikis.find(viewer, 'alice', name)).tip, null, what);
    };
    forge.world.repository['has_wiki'] = true;
    await wanted('no repository there', {}, null);
    forge.fail({ pattern: /\/wiki\/pages/, status: 404 });
    forge.fail({ pattern: /\.wiki\.git/, status: 500 });
    await wanted('no page, as Gitea says it', {}, null);
    forge.heal();
    const wiki = stubWiki(forge.folder, 'bob/tool');
    await wanted('an empty one', {}, null);
    wiki.commit({ 'Home.md': 'Welcome' });
    await wanted('left out', { withWiki: false }, null);
    forge.fail({ pattern: /\.wiki\.git/, status: 403 });
    await wanted('refused', {}, /wiki: The remote denies access with these credentials/);
    forge.heal();
    forge.fail({ pattern: /\.wiki\.git/, status: 302, headers: { Location: `http://127.0.0.1:${ports[0]}/x` } });
    await wanted('led elsewhere', {}, /wiki: .*(?:another one|not followed|redirect|git said)/);
    forge.heal();
    forge.world.repository['has_wiki'] = false;
    await wanted('switched off', {}, null);
  },
);
