// The folder that `gitea restore-repo` reads: each file as YAML, issues and code as they are here.
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, existsSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { localAdministrator } from '../../src/access/index.ts';
import type { PersonViewer } from '../../src/access/index.ts';
import { exportDump } from '../../src/imports/index.ts';
import { toYaml } from '../../src/imports/export/list-file.ts';
import { systemRandom } from '../../src/kernel/index.ts';
import { reasonOf } from '../ci/ci-fixture.ts';
import { clientEnvironment } from '../git/git-fixture.ts';
import { startHearth } from '../fixtures/start-hearth.ts';

/** What a file has. */
type Yaml = ReturnType<typeof JSON.parse>;

t.test('JSON that YAML reads alike', async (t) => {
  for (const text of [
    'a: b # c',
    '\u0000\t\u007f\u0085\u2028\ufeff',
    '- x\n"y"\\',
    '✓ \u{1f600}',
    'true',
    '2024-01-01',
  ])
    t.equal(parse(toYaml({ text })).text, text, encodeURIComponent(text));
});

t.test('a repository as the folder that another forge restores', async (t) => {
  const here = await startHearth(t);
  const { id, username } = await here.addPerson('alice');
  const viewer: PersonViewer = {
    kind: 'person',
    id,
    username,
    isAdministrator: false,
    via: 'session',
    scope: 'admin',
    repositoryIds: null,
  };
  await here.modules.repositories.create(viewer, {
    name: 'tool',
    visibility: 'PUBLIC',
    description: 'A: "tool"',
    readme: true,
  });
  const at = { owner: 'alice', name: 'tool' };
  const { number } = await here.modules.issues.open(viewer, at, { title: 'One: two', body: 'Text\n- [ ] box' });
  await here.modules.issues.comment(viewer, { ...at, number }, { body: 'A comment # with ✓' });
  await here.modules.issues.react(viewer, { ...at, number }, { position: 1, kind: 'heart', isOn: true });
  const second = await here.modules.issues.open(viewer, at, { title: 'Closed', body: '' });
  await here.modules.issues.close(viewer, { ...at, number: second.number }, 'completed');

  const target = path.join(here.folder, 'dump');
  const found = await here.modules.repositories.find(localAdministrator, 'alice', 'tool');
  const deps = { ...here.modules, random: systemRandom, temporaryFolder: path.join(here.folder, 'tmp') };
  t.match(await exportDump(deps, found, target), { issues: 2, pulls: 0, releases: 0, leftOut: 0 });
  const read = (name: string): Yaml => parse(readFileSync(path.join(target, name), 'utf8'));
  t.match(read('repo.yml'), { name: 'tool', owner: 'alice', description: 'A: "tool"', is_private: 'false' });
  for (const [key, value] of Object.entries(read('repo.yml'))) t.type(value, 'string', key);
  const issues = read('issue.yml');
  t.match(issues, [
    { number: 1, title: 'One: two', content: 'Text\n- [ ] box', state: 'open', poster_name: 'alice', foreignindex: 1 },
    { number: 2, title: 'Closed', state: 'closed', closed: String },
  ]);
  t.equal(issues.length, 2);
  t.match(read('comments/1.yml'), [
    { issue_index: 1, content: 'A comment # with ✓', reactions: [{ user_name: 'alice', content: 'heart' }] },
  ]);
  t.strictSame(readdirSync(path.join(target, 'comments')), ['1.yml']);
  t.strictSame(read('pull_request.yml'), []);
  const clone = path.join(here.folder, 'clone.git');
  execFileSync('git', ['clone', '--quiet', '--mirror', path.join(target, 'git'), clone], {
    env: clientEnvironment,
    stdio: 'ignore',
  });
  const tip = execFileSync('git', ['rev-parse', 'refs/heads/main'], { cwd: clone, env: clientEnvironment });
  t.equal(String(tip).trim(), (await here.modules.git.refs.list(found.path)).get('refs/heads/main'));
  t.equal(await reasonOf(exportDump(deps, found, target)), 'folder_not_empty');
  t.notOk(existsSync(`${target}.unfinished`));
});
