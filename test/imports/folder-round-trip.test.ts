// time limit: 300 s
// A round trip: a repository is exported to a folder of dump-repo here and imported here again, item by item the same.
import path from 'node:path';
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import type { PersonViewer } from '../../src/access/index.ts';
import { exportDump } from '../../src/imports/index.ts';
import { systemRandom } from '../../src/kernel/index.ts';
import { fixedClock } from '../fixtures/fixed-clock.ts';
import { startHearth } from '../fixtures/start-hearth.ts';

/** What an API answers. */
type Json = ReturnType<typeof JSON.parse>;

t.setTimeout(280_000);

t.test('a round trip: from here to a folder and back, item by item', async (t) => {
  const here = await startHearth(t, { clock: fixedClock(Date.UTC(2026, 0, 1)) });
  const alice = await here.addPerson('alice');
  const viewer = {
    ...{ kind: 'person', id: alice.id, username: 'alice', isAdministrator: false, via: 'session' },
    ...{ scope: 'admin', repositoryIds: null },
  } as PersonViewer;
  const name = 'copy';
  const start = async (from: string) => {
    const wish = { owner: 'alice', name, address: `${here.url}/alice/origin`, from };
    const { id } = await here.modules.imports.fromFiles.start(localAdministrator, wish);
    await here.modules.imports.runDue();
    return (await here.modules.imports.find(id))!;
  };
  const api = async (where: string): Promise<Json> => {
    const headers = { Authorization: `token ${alice.token}` };
    return (await fetch(`${here.url}/api/v1/repos/alice${where}`, { headers })).json();
  };
  const at = { owner: 'alice', name: 'origin' };
  await here.modules.repositories.create(viewer, {
    name: 'origin',
    visibility: 'PRIVATE',
    description: 'X: y',
    readme: true,
  });
  await here.modules.repositories.edit(viewer, 'alice', 'origin', { website: 'https://example.org/' });
  const { number } = await here.modules.issues.open(viewer, at, { title: 'One: two', body: '- [ ] box\n\n# head' });
  await here.modules.issues.comment(viewer, { ...at, number }, { body: '```yaml\n- a: b\n```' });
  await here.modules.issues.react(viewer, { ...at, number }, { position: 1, kind: 'heart', isOn: true });
  const second = await here.modules.issues.open(viewer, at, { title: 'Closed', body: '' });
  await here.modules.issues.close(viewer, { ...at, number: second.number }, 'not_planned');
  await here.modules.repositories.wikis.create(viewer, 'alice', 'origin', {
    title: 'Home',
    content: Buffer.from('# Pages'),
    message: '',
  });
  const target = path.join(here.folder, 'round-trip');
  const from = await here.modules.repositories.find(localAdministrator, 'alice', 'origin');
  const deps = { ...here.modules, random: systemRandom, temporaryFolder: path.join(here.folder, 'tmp') };
  await exportDump(deps, from, target);
  const found = await start(target);
  t.match(found, { state: 'done', lastError: null });
  const problems = await here.modules.imports.problems(found.id);
  t.strictSame(
    problems.filter(({ item }) => item !== 'to do'),
    [],
  );
  const { host } = new URL(here.url);
  const shape = (one: Json) => ({
    ...{ number: one.number, title: one.title, body: one.body, state: one.state, closedAt: one.closed_at },
    ...{ createdAt: one.created_at, updatedAt: one.updated_at, labels: one.labels.map((label: Json) => label.name) },
    ...{ comments: one.comments, author: (one.original_author || one.user.login).split('@')[0] },
  });
  const list = async (of: string) => (await api(`/${of}/issues?state=all`)).map(shape);
  t.strictSame(await list(name), await list('origin'));
  t.match((await api(`/${name}/issues/1`)).original_author, `alice@${host}`);
  const comments = async (of: string) =>
    (await api(`/${of}/issues/1/comments`)).map((one: Json) => [one.body, one.created_at]);
  t.strictSame(await comments(name), await comments('origin'));
  const facts = async (of: string) => {
    const { description, website, default_branch, private: isPrivate } = await api(`/${of}`);
    return { description, website, default_branch, isPrivate };
  };
  t.strictSame(await facts(name), await facts('origin'));
  const tip = async (of: string) => (await api(`/${of}/branches/main`)).commit.id;
  t.equal(await tip(name), await tip('origin'));
  t.match(await api(`/${name}/wiki/page/Home`), { content_base64: Buffer.from('# Pages').toString('base64') });
  t.match(await start(target), { run: 2, state: 'done', progress: { written: 0, unchanged: 2 } });
});
