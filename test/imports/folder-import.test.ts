// time limit: 300 s
// Imports from folders of dump-repo: what other writers make, and folders that lie.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import type { PersonViewer } from '../../src/access/index.ts';
import { reasonOf } from '../ci/ci-fixture.ts';
import { fixedClock } from '../fixtures/fixed-clock.ts';
import { startHearth } from '../fixtures/start-hearth.ts';
import type { Hearth, TestPerson } from '../fixtures/start-hearth.ts';
import { clientEnvironment } from '../git/git-fixture.ts';
import { createBareRepository } from '../mirrors/remote-servers.ts';

/** What an API answers. */
type Json = ReturnType<typeof JSON.parse>;

t.setTimeout(280_000);

let here: Hearth;
let alice: TestPerson;
let viewer: PersonViewer;

t.before(async () => {
  here = await startHearth(t, { clock: fixedClock(Date.UTC(2026, 0, 1)) });
  alice = await here.addPerson('alice');
  code = makeCode();
  viewer = {
    ...{ kind: 'person', id: alice.id, username: 'alice', isAdministrator: false, via: 'session' },
    ...{ scope: 'admin', repositoryIds: null },
  } as PersonViewer;
});

const address = 'https://git.example.org/bob/tool';
let count = 0;

async function start(from: string, more: { name?: string; address?: string } = {}) {
  count += 1;
  const wish = { owner: 'alice', name: `garden-${count}`, address, ...more };
  const { id } = await here.modules.imports.fromFiles.start(localAdministrator, { ...wish, from });
  await here.modules.imports.runDue();
  return { id, name: wish.name, found: (await here.modules.imports.find(id))! };
}

async function problemsOf(importId: string): Promise<string[]> {
  const problems = await here.modules.imports.problems(importId);
  return problems.filter(({ item }) => item !== 'to do').map(({ item, problem }) => `${item}: ${problem}`);
}

async function api(where: string): Promise<Json> {
  const headers = { Authorization: `token ${alice.token}` };
  const response = await fetch(`${here.url}/api/v1/repos/alice${where}`, { headers });
  return response.json();
}

/** Folders that an import keeps while it runs. */
const kept = (): string[] => {
  const folder = path.join(here.folder, 'imports');
  return existsSync(folder) ? readdirSync(folder) : [];
};

/** The code of all folders, with the head of a pull request. */
let code: { bare: string; tip: string };

function makeCode(): typeof code {
  const bare = createBareRepository(here.folder, 'code.git');
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: bare, env: clientEnvironment, encoding: 'utf8' }).trim();
  const tip = git('rev-parse', 'HEAD');
  git('update-ref', 'refs/pull/3/head', tip);
  return { bare, tip };
}

/** A folder as Gitea writes it: several lists one behind the other, block texts, code as a bare repository. */
function writeFolder(name: string, files: Record<string, string> = {}): string {
  const folder = path.join(here.folder, `given-${name}`);
  mkdirSync(path.join(folder, 'comments'), { recursive: true });
  mkdirSync(path.join(folder, 'reviews'));
  cpSync(code.bare, path.join(folder, 'git'), { recursive: true });
  const { tip } = code;
  const all: Record<string, string> = {
    'repo.yml': `clone_addr: ""\ndescription: 'A: tool'\nis_private: true\nname: tool\nservice_type: 2\n`,
    'topic.yml': 'topics:\n- garden\n- tools\n',
    'label.yml': '- name: bug\n  color: ee0701\n  description: Wrong\n  exclusive: false\n',
    'milestone.yml':
      '- title: v1\n  description: ""\n  deadline: null\n  created: 2024-01-01T00:00:00Z\n  state: open\n',
    'issue.yml': [
      '- number: 1\n  poster_id: 2\n  poster_name: bob\n  poster_email: bob@example.org\n  title: First\n',
      '  content: |-\n    Text\n\n    - a list\n    - of two\n  milestone: v1\n  state: open\n  is_locked: true\n',
      '  created: 2024-01-02T00:00:00Z\n  updated: 2024-01-03T00:00:00Z\n  closed: null\n',
      '  labels:\n  - name: bug\n    color: ee0701\n  reactions:\n  - user_id: 3\n    user_name: carol\n    content: heart\n',
      '  assignees: []\n  foreignindex: 1\n',
      '[]\n',
      '- number: 2\n  poster_name: Ghost\n  title: Second\n  content: ""\n  state: closed\n',
      '  created: 2024-01-02T00:00:00Z\n  updated: 2024-01-03T00:00:00Z\n  closed: 2024-01-04T00:00:00Z\n',
    ].join(''),
    'comments/1.yml': [
      '- issue_index: 1\n  index: 70\n  comment_type: ""\n  poster_name: carol\n  created: 2024-01-05T00:00:00Z\n',
      '  updated: 2024-01-05T00:00:00Z\n  content: A comment\n',
      '- issue_index: 1\n  index: 71\n  comment_type: change_title\n  poster_name: carol\n  content: x\n',
    ].join(''),
    'pull_request.yml': [
      `- number: 3\n  title: Change\n  poster_name: carol\n  content: Please\n  state: open\n`,
      '  created: 2024-01-06T00:00:00Z\n  updated: 2024-01-07T00:00:00Z\n  merged: false\n',
      `  head:\n    ref: topic\n    sha: ${tip}\n    repo_name: tool\n    owner_name: bob\n`,
      `  base:\n    ref: main\n    sha: ${tip}\n    repo_name: tool\n    owner_name: bob\n`,
    ].join(''),
    'reviews/3.yml': [
      '- id: 9\n  issue_index: 3\n  reviewer_name: bob\n  commit_id: ""\n  content: Fine\n  state: APPROVED\n',
      '  created_at: 2024-01-08T00:00:00Z\n  comments:\n  - id: 12\n    content: At the line\n    tree_path: README.md\n',
      '    diff_hunk: "@@ -1,1 +1,1 @@\\n-a\\n+b"\n    line: 0\n    created_at: 2024-01-08T00:00:00Z\n',
    ].join(''),
    ...files,
  };
  for (const [file, text] of Object.entries(all)) writeFileSync(path.join(folder, file), text);
  return folder;
}

t.test('a folder as Gitea writes it', async (t) => {
  const folder = writeFolder('whole');
  const { id, name, found } = await start(folder);
  t.match(found, { state: 'done', lastError: null, run: 1, progress: { written: 3 } });
  t.strictSame(await problemsOf(found.id), ['#1: 1 entries that are no comments did not come']);
  t.match(await api(`/${name}`), {
    description: 'A: tool',
    private: true,
    default_branch: 'main',
    topics: ['garden', 'tools'],
  });
  t.match(await api(`/${name}/issues/1`), {
    title: 'First',
    body: 'Text\n\n- a list\n- of two',
    state: 'open',
    labels: [{ name: 'bug' }],
    milestone: { title: 'v1' },
    created_at: /^2024-01-02/,
    original_author: 'bob@git.example.org',
  });
  t.match(await api(`/${name}/issues/1/comments`), [{ body: 'A comment', created_at: /^2024-01-05/ }]);
  t.match(await api(`/${name}/issues/1/reactions`), [{ content: 'heart' }]);
  t.match(await api(`/${name}/issues/2`), { state: 'closed', closed_at: /^2024-01-04/ });
  t.match(await api(`/${name}/pulls/3`), { title: 'Change', state: 'open', head: { ref: 'topic' } });
  t.match(await api(`/${name}/pulls/3/reviews`), [{ state: 'APPROVED', body: 'Fine' }]);
  t.strictSame(kept(), [], 'its copy is removed');
  const people = await here.modules.imports.people.list('git.example.org');
  t.match(
    people.find(({ person }) => person === 'bob@git.example.org'),
    { email: '' },
    'a file vouches for no address',
  );

  t.test('the same folder again changes nothing, another one adds', async (t) => {
    const again = await start(folder, { name });
    t.equal(again.id, id);
    t.match(again.found, { run: 2, state: 'done', progress: { written: 0, unchanged: 3 } });
    writeFileSync(
      path.join(folder, 'comments/2.yml'),
      '- issue_index: 2\n  index: 80\n  poster_name: bob\n  created: 2024-02-01T00:00:00Z\n  content: Later\n',
    );
    const third = await start(folder, { name });
    t.match(third.found, { run: 3, state: 'done', progress: { written: 1, unchanged: 2 } });
    t.match(await api(`/${name}/issues/2/comments`), [{ body: 'Later' }]);
  });
  t.test('what asks for the folder once it is gone', async (t) => {
    t.equal(await reasonOf(here.modules.imports.again(localAdministrator, id, {})), 'import_needs_files');
  });
  t.test('a name that is taken', async (t) => {
    const other = { name, address: 'https://git.example.org/bob/other' };
    t.equal(await reasonOf(start(folder, other)), 'repository_name_taken');
    await here.modules.repositories.create(viewer, { name: 'own', visibility: 'PRIVATE' });
    t.equal(await reasonOf(start(folder, { name: 'own' })), 'repository_name_taken');
    t.strictSame(kept(), []);
  });
});

t.test('a dry run counts and changes nothing', async (t) => {
  const folder = writeFolder('dry');
  const told = await here.modules.imports.fromFiles.try({ address, from: folder });
  t.match(told, { project: 'bob/tool', counts: { issues: 2, pulls: 1, releases: 0, labels: 1, milestones: 1 } });
  t.equal(await reasonOf(here.modules.repositories.find(localAdministrator, 'alice', 'tool')), 'repository_not_found');
  t.strictSame(kept(), []);
});

t.test('folders that are none are refused, and nothing is created', async (t) => {
  const outside = path.join(here.folder, 'outside');
  writeFileSync(outside, 'secret');
  const cases: [string, (folder: string) => void][] = [
    ['no repo.yml', (folder) => rmSync(path.join(folder, 'repo.yml'))],
    ['a list in its place', (folder) => writeFileSync(path.join(folder, 'repo.yml'), '- a\n')],
    ['no YAML', (folder) => writeFileSync(path.join(folder, 'repo.yml'), '{{{')],
    ['a link to a file', (folder) => symlinkSync(outside, path.join(folder, 'comments', '9.yml'))],
    ['a link to a folder', (folder) => symlinkSync('/etc', path.join(folder, 'release_assets'))],
    ['a link in the code', (folder) => symlinkSync(outside, path.join(folder, 'git', 'objects', 'info', 'alternates'))],
    ['a pipe', (folder) => void execFileSync('mkfifo', [path.join(folder, 'pipe')])],
    ['folders without an end', (folder) => mkdirSync(path.join(folder, 'x/'.repeat(60)), { recursive: true })],
    ['nothing at all', (folder) => rmSync(folder, { recursive: true })],
  ];
  const name = 'refused';
  for (const [at, [what, spoil]] of cases.entries()) {
    const folder = writeFolder(`bad-${at}`);
    spoil(folder);
    t.equal(await reasonOf(start(folder, { name })), 'unreadable_import_files', what);
    t.equal(await reasonOf(here.modules.repositories.find(localAdministrator, 'alice', name)), 'repository_not_found');
  }
  t.equal(await reasonOf(start(writeFolder('no-address'), { name, address: 'nothing' })), 'invalid_import_address');
  t.strictSame(kept(), []);
});

t.test('items that lie are a line each, and everything else comes', async (t) => {
  const folder = writeFolder('lies', {
    'label.yml': '- &a [x, x]\n- name: good\n  color: zzz\n- *a\n',
    'comments/1.yml': `- index: 1\n  content: "${'a'.repeat(300_000)}"\n- {{{\n- index: 2\n  content: Good\n`,
    'release.yml': [
      '- tag_name: v1\n  name: v1\n  created: 2024-01-01T00:00:00Z\n  published: 2024-01-01T00:00:00Z\n  assets:\n',
      '  - id: 1\n    name: outside.txt\n    size: 6\n    download_url: ../outside\n',
      '  - id: 2\n    name: absolute.txt\n    size: 6\n    download_url: /etc/hostname\n',
      '  - id: 3\n    name: good.txt\n    size: 4\n    download_url: release_assets/good\n',
      '- nothing\n',
    ].join(''),
  });
  mkdirSync(path.join(folder, 'release_assets'));
  writeFileSync(path.join(folder, 'release_assets', 'good'), 'good');
  writeFileSync(path.join(path.dirname(folder), 'outside'), 'secret');
  const pulls = path.join(folder, 'pull_request.yml');
  writeFileSync(
    pulls,
    `- number: 3\n  title: Gone\n  head:\n    sha: ${'a'.repeat(40)}\n  base:\n    ref: main\n- number: 4\n  title: None\n`,
  );
  const { found, name } = await start(folder);
  t.match(found, { state: 'done', lastError: null });
  const problems = await problemsOf(found.id);
  for (const expected of [
    /^label\.yml: .*cannot be read/,
    /^comments\/1\.yml: an item that cannot be read/,
    /^#1: the comment 1 is longer than 256 KiB and was cut/,
    /^#3: the commits of this pull request are gone/,
    /^#4: names no commit/,
    /^releases: .*outside\.txt of v1.*does not have it/,
    /^releases: .*absolute\.txt of v1.*does not have it/,
  ])
    t.ok(
      problems.some((line) => expected.test(line)),
      String(expected),
      { problems },
    );
  t.match(
    (await api(`/${name}/issues/1/comments`)).map((one: Json) => one.body.length),
    [256 * 1024 - 2, 4],
  );
  t.match(
    (await api(`/${name}/releases`))[0].assets.map((one: Json) => one.name),
    ['good.txt'],
  );
});
