// Names of repositories that commands take: one in the trash is said to be there, with the way back, and a visibility
// may be written in either case where the interface says so.
import path from 'node:path';
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { startHearth } from '../fixtures/start-hearth.ts';
import { sendRequest } from '../fixtures/web-fixture.ts';
import { runCli } from './run-cli.ts';

const hearth = await startHearth(t);
const alice = await hearth.addPerson('alice');
const bob = await hearth.addPerson('bob');
const { repositories } = hearth.modules;
const run = (...words: string[]) =>
  runCli(words, {
    cwd: hearth.folder,
    openModules: async (config) => ({ ...hearth.modules, config, close: async () => {} }),
    env: { SERVICE_DATA_DIR: path.join(hearth.folder, 'data') },
  });

t.test('a command says that the repository it names is in the trash, and how it comes back', async (t) => {
  await repositories.create(localAdministrator, { owner: 'alice', name: 'gone', visibility: 'PUBLIC' });
  await repositories.trash.move(localAdministrator, 'alice', 'gone');
  const commands = [
    ['repo', 'show'],
    ['repo', 'gc'],
    ['pull', 'list'],
    ['release', 'list'],
    ['repo', 'rename', 'NAME', 'other'],
    ['repo', 'archive'],
    ['federation', 'followers', 'NAME'],
    ['issue', 'list'],
    ['webhook', 'list'],
    ['export', 'NAME', 'out.hearth'],
    ['repo', 'delete', '--yes'],
  ];
  for (const words of commands) {
    const named = words.includes('NAME')
      ? words.map((word) => (word === 'NAME' ? 'Alice/Gone' : word))
      : [...words.slice(0, 2), 'Alice/Gone', ...words.slice(2)];
    const { code, stderr } = await run(...named);
    t.equal(code, 3, named.join(' '));
    t.match(
      stderr,
      /alice\/gone was deleted; it is in the trash\nhint: hearth repo restore alice\/gone\n/i,
      named.join(' '),
    );
  }
  const absent = await run('repo', 'show', 'alice/never');
  t.equal(absent.code, 3);
  t.notMatch(absent.stderr, /trash/, 'what never was is not');
  const json = await run('repo', 'show', 'alice/gone', '--json');
  t.match(JSON.parse(json.stderr), { error: { code: 'repository_not_found', hint: 'hearth repo restore alice/gone' } });

  t.equal((await run('repo', 'restore', 'alice/gone')).code, 0, 'the hint does what it says');
  t.equal((await run('repo', 'show', 'alice/gone')).code, 0);
});

t.test('other callers learn nothing of the trash', async (t) => {
  await repositories.create(localAdministrator, { owner: 'alice', name: 'hidden', visibility: 'PUBLIC' });
  await repositories.trash.move(localAdministrator, 'alice', 'hidden');
  const web = { port: Number(new URL(hearth.url).port) };
  const answerTo = async (name: string, token: string) => {
    const { status, body } = await sendRequest(web, `/api/v1/repos/alice/${name}`, {
      headers: { Authorization: `Bearer ${token}` },
    });
    return [status, body];
  };
  for (const { token } of [alice, bob]) t.same(await answerTo('hidden', token), await answerTo('never', token));
});

t.test('a visibility may be written in either case', async (t) => {
  const web = { port: Number(new URL(hearth.url).port) };
  const call = async (method: string, target: string, body: object) => {
    const headers = { Authorization: `Bearer ${alice.token}`, 'Content-Type': 'application/json' };
    const got = await sendRequest(web, `/api/v1${target}`, { method, headers, body: JSON.stringify(body) });
    return { status: got.status, visibility: (JSON.parse(got.body) as { visibility?: string }).visibility };
  };
  for (const [written, kept] of [
    ['public', 'PUBLIC'],
    ['PUBLIC', 'PUBLIC'],
    ['Private', 'PRIVATE'],
    ['private', 'PRIVATE'],
  ] as const) {
    const name = `as-${written}-${kept.length}${written === 'PUBLIC' ? '-upper' : written === 'Private' ? '-mixed' : ''}`;
    t.match(await call('POST', '/repos', { name, visibility: written }), { status: 201, visibility: kept });
    const other = kept === 'PUBLIC' ? 'private' : 'public';
    t.match(await call('PATCH', `/repos/alice/${name}`, { visibility: other }), {
      status: 200,
      visibility: other.toUpperCase(),
    });
  }
  for (const visibility of ['internal', 1])
    t.equal((await call('POST', '/repos', { name: 'refused', visibility })).status, 422, JSON.stringify(visibility));
  for (const [at, visibility] of ['', null].entries())
    t.match(await call('POST', '/repos', { name: `left-out-${at}`, visibility }), {
      status: 201,
      visibility: 'PRIVATE',
    });
  t.match(await run('repo', 'list', '--visibility', 'private', '--json'), { code: 0 });
});
