// time limit: 300 s
// Imports from archives: GitHub's migration archive, GitLab's project export, what gh prints, and archives that lie.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { unpackArchive } from '../../src/imports/from-files/unpack-archive.ts';
import { reasonOf } from '../ci/ci-fixture.ts';
import { fixedClock } from '../fixtures/fixed-clock.ts';
import { startHearth } from '../fixtures/start-hearth.ts';
import type { Hearth, TestPerson } from '../fixtures/start-hearth.ts';
import { clientEnvironment } from '../git/git-fixture.ts';
import { createBareRepository } from '../mirrors/remote-servers.ts';
import { ghFiles, githubFiles, gitlabFiles, packMembers } from './archives.ts';
import type { Member } from './archives.ts';

/** What an API answers. */
type Json = ReturnType<typeof JSON.parse>;

t.setTimeout(280_000);

let here: Hearth;
let alice: TestPerson;
/** The code of all archives: a release, and the head of a pull request by the words of two forges. */
let code: { bare: string; tip: string; bundle: string };

t.before(async () => {
  here = await startHearth(t, { clock: fixedClock(Date.UTC(2026, 0, 1)) });
  alice = await here.addPerson('alice');
  const bare = createBareRepository(here.folder, 'code.git');
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: bare, env: clientEnvironment, encoding: 'utf8' }).trim();
  const tip = git('rev-parse', 'HEAD');
  for (const ref of ['refs/pull/3/head', 'refs/merge-requests/1/head', 'refs/tags/v1']) git('update-ref', ref, tip);
  const bundle = path.join(here.folder, 'project.bundle');
  git('bundle', 'create', '-q', bundle, '--all');
  code = { bare, tip, bundle };
});

let count = 0;

async function start(from: string, address: string, given?: string) {
  count += 1;
  const name = given ?? `garden-${count}`;
  const wish = { owner: 'alice', name, address, from };
  const { id } = await here.modules.imports.fromFiles.start(localAdministrator, wish);
  await here.modules.imports.runDue();
  const found = (await here.modules.imports.find(id))!;
  const problems = await here.modules.imports.problems(found.id);
  return { name, found, problems: problems.map(({ item, problem }) => `${item}: ${problem}`) };
}

async function api(where: string): Promise<Json> {
  const headers = { Authorization: `token ${alice.token}` };
  return (await fetch(`${here.url}/api/v1/repos/alice${where}`, { headers })).json();
}

function writeFiles(name: string, files: Record<string, string>): string {
  const folder = path.join(here.folder, `given-${name}`);
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    writeFileSync(path.join(folder, file), text);
  }
  return folder;
}

function pack(folder: string): string {
  const file = `${folder}.tar.gz`;
  execFileSync('tar', ['-czf', file, '-C', folder, '.']);
  return file;
}

/** Folders that an import keeps while it runs. */
const kept = (): string[] => {
  const folder = path.join(here.folder, 'imports');
  return existsSync(folder) ? readdirSync(folder) : [];
};

function githubArchive(name: string, more: Record<string, string> = {}): string {
  const folder = writeFiles(name, { ...githubFiles(code.tip), ...more });
  cpSync(code.bare, path.join(folder, 'repositories/bob/tool.git'), { recursive: true });
  return folder;
}

const atGithub = 'https://github.com/bob/tool';

t.test('a migration archive of GitHub', async (t) => {
  const folder = githubArchive('github');
  const archive = pack(folder);
  const { name, found, problems } = await start(archive, atGithub);
  t.match(found, { state: 'done', lastError: null, kind: 'github', progress: { written: 3 } }, problems.join('\n'));
  t.match(await api(`/${name}`), { description: 'A tool', private: true, default_branch: 'main' });
  t.match(await api(`/${name}/issues/1`), {
    ...{ title: 'First', state: 'open', original_author: 'carol@github.com', is_locked: true, pin_order: 1 },
    ...{ labels: [{ name: 'good one', color: 'ee0701' }], milestone: { title: 'v1' }, created_at: /^2024-01-02/ },
  });
  t.match(await api(`/${name}/issues/1/reactions`), [{ content: 'hooray' }]);
  t.match(await api(`/${name}/issues/1/comments`), [
    { body: 'A comment', original_author: 'robot[bot]@github.com', created_at: /^2024-01-05/ },
  ]);
  t.match(await api(`/${name}/issues/1/assets`), [{ name: /shot|55555555/ }]);
  t.match(await api(`/${name}/issues/2`), { state: 'closed', closed_at: /^2024-01-04/ });
  t.match(await api(`/${name}/pulls/3`), { title: 'Change', state: 'open', head: { ref: 'topic', sha: code.tip } });
  t.match(await api(`/${name}/issues/3/comments`), [{ body: 'On the pull request' }]);
  const [review] = await api(`/${name}/pulls/3/reviews`);
  t.match(review, { state: 'APPROVED', body: 'Fine' });
  t.match(await api(`/${name}/pulls/3/reviews/${review.id}/comments`), [
    { body: 'At the line', path: 'README.md', resolved: true },
  ]);
  const [release] = await api(`/${name}/releases`);
  t.match(release, { tag_name: 'v1', name: 'One', body: 'Notes' });
  t.strictSame(
    release.assets.map((one: Json) => one.name),
    ['good.txt'],
  );
  t.match(await api(`/${name}/branch_protections`), [{ branch_name: 'main' }]);
  t.match(await api(`/${name}/hooks`), [{ active: false }]);
  for (const expected of [
    /^comments at commits: 1 did not come/,
    /^releases: .*outside\.txt of v1.*does not have it/,
    /^to do: Give carol access/,
  ])
    t.ok(
      problems.some((line) => expected.test(line)),
      String(expected),
      { problems },
    );
  t.strictSame(kept(), [], 'its copy is removed');
  t.equal((await fetch(`${here.url}/alice/${name}/issues/9`)).status, 404, 'nothing of the other repository');

  t.test('again, as a folder', async (t) => {
    const again = await start(folder, atGithub, name);
    t.match(again.found, { run: 2, state: 'done', progress: { written: 0, unchanged: 3 } });
  });
  t.test('of another repository', async (t) => {
    t.equal(await reasonOf(start(archive, 'https://github.com/bob/none')), 'unreadable_import_files');
    t.strictSame(kept(), []);
  });
  t.test('a dry run counts', async (t) => {
    const told = await here.modules.imports.fromFiles.try({ address: atGithub, from: archive });
    t.match(told, { counts: { issues: 2, pulls: 1, releases: 1, labels: 1, milestones: 1 } });
    t.strictSame(kept(), []);
  });
});

t.test('a project export of GitLab', async (t) => {
  const folder = writeFiles('gitlab', gitlabFiles(code.tip));
  cpSync(code.bundle, path.join(folder, 'project.bundle'));
  const address = 'https://gitlab.example.org/bob/tool';
  const { name, found, problems } = await start(pack(folder), address);
  t.match(found, { state: 'done', lastError: null, kind: 'gitlab', progress: { written: 2 } }, problems.join('\n'));
  t.match(await api(`/${name}`), { description: 'A tool', private: true });
  t.match(await api(`/${name}/issues/1`), {
    ...{ title: 'First', original_author: 'carol@gitlab.example.org', milestone: { title: 'v1' } },
    labels: [{ name: 'of a group' }],
  });
  t.match(await api(`/${name}/issues/1/reactions`), [{ content: '+1' }]);
  t.match(
    await api(`/${name}/issues/1/comments`),
    [{ body: 'A comment', original_author: 'id:7@gitlab.example.org' }],
    'a name that is shown is nobody’s login',
  );
  t.match(await api(`/${name}/issues/1/assets`), [{ name: 'shot.txt' }]);
  t.match(await api(`/${name}/pulls/2`), { title: 'Change', state: 'open', head: { ref: 'topic' } });
  const reviews: Json[] = await api(`/${name}/pulls/2/reviews`);
  t.strictSame(reviews.map(({ state }) => state).toSorted(), ['APPROVED', 'COMMENT', 'COMMENT']);
  t.match(await api(`/${name}/labels`), [{ name: 'of a group' }, { name: 'priority/high', exclusive: true }]);
  for (const expected of [
    /^#2: is confidential there and did not come/,
    /^#1: 1 internal notes did not come/,
    /^visibility: is internal there/,
    /^releases: the link build of v1/,
    /^snippets: 1 did not come/,
  ])
    t.ok(
      problems.some((line) => expected.test(line)),
      String(expected),
      { problems },
    );
  const again = await start(folder, address, name);
  t.match(again.found, { run: 2, state: 'done', progress: { written: 0, unchanged: 2 } });
});

t.test('a folder of what gh prints', async (t) => {
  const folder = writeFiles('gh', ghFiles(code.tip));
  cpSync(code.bare, path.join(folder, 'git'), { recursive: true });
  const { name, found } = await start(folder, atGithub);
  t.match(found, { state: 'done', lastError: null, progress: { written: 2 } });
  t.match(await api(`/${name}/issues/1`), {
    ...{ title: 'First', state: 'closed', labels: [{ name: 'bug' }], milestone: { title: 'v1' } },
  });
  t.match(await api(`/${name}/issues/1/comments`), [{ body: 'A comment' }]);
  t.match(await api(`/${name}/pulls/3/reviews`), [{ state: 'APPROVED', body: 'Fine' }]);
  writeFileSync(path.join(folder, 'labels.json'), '{"no": "list"}');
  t.equal(await reasonOf(start(folder, atGithub)), 'unreadable_import_files');
});

t.test('files of an archive that lie are a line each, and everything else comes', async (t) => {
  const folder = githubArchive('lies', {
    'issues_000002.json': '{"cut off": ',
    'issues_000003.json': JSON.stringify([
      { url: `${atGithub}/issues/none`, title: 'No number' },
      { url: `${atGithub}/issues/7`, title: 'Good', body: 'x', created_at: 'no time', user: 5, labels: 'none' },
    ]),
    'pull_requests_000002.json': JSON.stringify([
      { url: `${atGithub}/pull/8`, title: 'Gone', head: { sha: 'a'.repeat(40) }, base: { ref: 'main' } },
    ]),
  });
  const { name, found, problems } = await start(folder, atGithub);
  t.match(found, { state: 'done', lastError: null });
  t.match(await api(`/${name}/issues/7`), { title: 'Good', body: 'x' });
  for (const expected of [
    /^issues_000002\.json: cannot be read/,
    /^issues: an issue without a number/,
    /^#8: the commits of this pull request are gone/,
  ])
    t.ok(
      problems.some((line) => expected.test(line)),
      String(expected),
      { problems },
    );
});

const future = '2098-01-01T00:00:00Z';
const long = 'x'.repeat(1024 * 1024);

t.test('rows of gh that lie are a line each, and everything else comes', async (t) => {
  const files = ghFiles(code.tip);
  const [first] = JSON.parse(files['issues.json']!) as Json[];
  const [change] = JSON.parse(files['pulls.json']!) as Json[];
  const comment = {
    id: 'IC_y',
    url: `${atGithub}/issues/9#issuecomment-71`,
    createdAt: '2024-01-05T00:00:00Z',
    body: 'By a ghost',
  };
  files['issues.json'] = JSON.stringify([
    first,
    { ...first, title: 'Twice', createdAt: '2024-01-09T00:00:00Z' },
    { ...first, number: -2 },
    { ...first, number: 2 ** 40, title: 'Far' },
    { ...first, number: 8, title: 'Later', body: long, state: 'OPEN', createdAt: future, comments: [] },
    { ...first, number: 9, title: '', author: null, labels: 'none', milestone: 5, comments: [comment, null, 'x'] },
    null,
  ]);
  files['pulls.json'] = JSON.stringify([change, { ...change, number: 10, headRefOid: 'a'.repeat(40), reviews: 7 }]);
  const folder = writeFiles('gh-lies', files);
  cpSync(code.bare, path.join(folder, 'git'), { recursive: true });
  const { name, found, problems } = await start(folder, atGithub);
  t.match(found, { state: 'done', lastError: null }, problems.join('\n'));
  for (const expected of [
    /^#1: came twice with different content/,
    /^issues\.json: a row without a number did not come/,
    /^#1099511627776: did not come: numbers go up to/,
    /^#8: it has a time in the future, 2098-01-01; it became now/,
    /^#8: .* is longer than 256 KiB and was cut/,
    /^#9: a comment that cannot be read did not come/,
    /^#10: the commits of this pull request are gone/,
  ])
    t.ok(
      problems.some((line) => expected.test(line)),
      String(expected),
      { problems },
    );
  t.strictSame(
    ((await api(`/${name}/issues/9/comments`)) as Json[]).map(({ body }) => body),
    ['By a ghost'],
  );
  t.match(await api(`/${name}/pulls/3`), { title: 'Change', state: 'open' });
  const again = await start(folder, atGithub, name);
  t.match(again.found, { run: 2, state: 'done', progress: { written: 0 } });
});

t.test('rows of a project export of GitLab that lie are a line each, and everything else comes', async (t) => {
  const files = gitlabFiles(code.tip);
  const add = (list: string, ...rows: unknown[]): void => {
    const file = Object.keys(files).find((each) => each.endsWith(`/${list}.ndjson`))!;
    files[file] = `${files[file]!.trimEnd()}\n${rows.map((row) => JSON.stringify(row)).join('\n')}\n{"cut off": \n`;
  };
  const issue = { title: 'Good', description: '', state: 'opened', author_id: 5, created_at: future, notes: [] };
  const notes = [{ id: 90, note: long, author_id: 404, created_at: future, system: false }, null, 7];
  add(
    'issues',
    { ...issue, iid: 5, notes },
    { ...issue, iid: 6 },
    { ...issue, iid: 5, title: 'Twice', created_at: '2024-01-09T00:00:00Z' },
    { ...issue, iid: 'six' },
    { ...issue, iid: 2 ** 40 },
    7,
  );
  add('merge_requests', {
    ...{ iid: 2, title: 'Gone', description: '', state: 'merged', author_id: 5, created_at: '2024-01-05T00:00:00Z' },
    ...{ source_branch: 'gone', target_branch: 'main', source_project_id: 3, target_project_id: 3 },
    merge_request_diff: { base_commit_sha: 'b'.repeat(40), head_commit_sha: 'a'.repeat(40) },
  });
  const folder = writeFiles('gitlab-lies', files);
  cpSync(code.bundle, path.join(folder, 'project.bundle'));
  const { name, found, problems } = await start(folder, 'https://gitlab.example.org/bob/tool');
  t.match(found, { state: 'done', lastError: null }, problems.join('\n'));
  for (const expected of [
    /^#5: came twice with different content/,
    /^#6: it has a time in the future, 2098-01-01; it became now/,
    /^#\d+: the commits of this pull request are gone/,
  ])
    t.ok(
      problems.some((line) => expected.test(line)),
      String(expected),
      { problems },
    );
  t.match(await api(`/${name}/issues/1`), { title: 'First' });
  t.match(await api(`/${name}/pulls/7`), { title: 'Change', state: 'open' }, 'after the highest number that came');
});

t.test('archives that are none are refused, and nothing is created or written elsewhere', async (t) => {
  const good: Member = { name: 'repositories_000001.json', content: '[]' };
  const long: Member[] = [{ name: '././@LongLink', type: 'L', content: `../${'x'.repeat(150)}\0` }, { name: 'short' }];
  const cases: [string, Buffer][] = [
    ['no gzip', Buffer.from('hello')],
    ['no tar', gzipSync('hello')],
    ['cut off', packMembers([good]).subarray(0, 40)],
    ['ends in a file', gzipSync(Buffer.concat([Buffer.alloc(512, 'a')]))],
    ['a path above', packMembers([{ name: '../outside', content: 'x' }])],
    ['a path above in the middle', packMembers([{ name: 'a/../../outside', content: 'x' }])],
    ['an absolute path', packMembers([{ name: '/tmp/outside', content: 'x' }])],
    ['a long path above', packMembers(long)],
    ['a link', packMembers([{ name: 'repositories', type: '2', linkTarget: '/etc' }, good])],
    ['a hard link', packMembers([{ name: 'passwords', type: '1', linkTarget: '/etc/passwd' }])],
    ['a device', packMembers([{ name: 'null', type: '3' }])],
    ['a pipe', packMembers([{ name: 'pipe', type: '6' }])],
    ['a name twice', packMembers([good, good])],
    ['a file below a file', packMembers([good, { name: `${good.name}/x`, content: 'x' }])],
    ['a length that is none', packMembers([{ name: 'x', type: 'x', bytes: 0o7777777777 }])],
    ['folders without an end', packMembers([{ name: 'x/'.repeat(45), type: '5' }])],
    ['nothing in it', packMembers([])],
    ['no repository', packMembers([good])],
  ];
  for (const [at, [what, bytes]] of cases.entries()) {
    const file = path.join(here.folder, `bad-${at}.tar.gz`);
    writeFileSync(file, bytes);
    t.equal(await reasonOf(start(file, atGithub, 'refused')), 'unreadable_import_files', what);
    t.equal(
      await reasonOf(here.modules.repositories.find(localAdministrator, 'alice', 'refused')),
      'repository_not_found',
    );
  }
  t.strictSame(kept(), []);
  t.notOk(existsSync(path.join(here.folder, 'outside')));
  t.notOk(existsSync(path.join(here.folder, 'imports', 'outside')));
});

t.test('an archive that becomes far larger than it is', async (t) => {
  const file = path.join(here.folder, 'bomb.tar.gz');
  writeFileSync(file, packMembers([{ name: 'zeros', content: '\0'.repeat(4 * 1024 * 1024) }]));
  const limits = { totalBytes: 1024 ** 3, entries: 10, depth: 5, ratio: 100, plainBytes: 1024 };
  const to = path.join(here.folder, 'unpacked');
  t.equal(await reasonOf(unpackArchive(file, to, limits)), 'unreadable_import_files');
  t.notOk(existsSync(path.join(to, 'zeros')), 'nothing of it is written');
  t.equal(
    await reasonOf(unpackArchive(file, to, { ...limits, ratio: 10_000 })),
    'nothing',
    'it is the ratio that counts',
  );
  writeFileSync(file, packMembers(Array.from({ length: 11 }, (_, at) => ({ name: `f${at}` }))));
  t.equal(await reasonOf(unpackArchive(file, `${to}-2`, limits)), 'unreadable_import_files', 'too many files');
});
