import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { fillRepository } from '../fixtures/web-fixture.ts';
import { runCli } from './run-cli.ts';
import type { RunCliOptions } from './run-cli.ts';
import { openModules } from '../../src/app/index.ts';
import { loadConfig } from '../../src/config/index.ts';
import { silentLogger } from '../../src/kernel/index.ts';

t.setTimeout(120_000);

const folder = temporaryFolder(t);
const dataDir = path.join(folder, 'data');
mkdirSync(dataDir);
const { config } = loadConfig({
  argvOverrides: {},
  env: { SERVICE_DATA_DIR: dataDir },
  cwd: folder,
  readFile: () => '',
});
const modules = await openModules(config, { logger: silentLogger }, 'always');
t.teardown(() => modules.close());
const people = await Promise.all(
  ['alice', 'bob'].map((username) => modules.accounts.addPerson({ username, displayName: username })),
);
const alice = {
  kind: 'person',
  id: people[0]!.id,
  username: 'alice',
  isAdministrator: false,
  via: 'session',
  scope: 'admin',
  repositoryIds: null,
} as const;
await modules.repositories.create(alice, { name: 'garden', visibility: 'PUBLIC' });
const { path: bare } = await modules.repositories.find(alice, 'alice', 'garden');
await fillRepository(t, bare, { 'gate.txt': 'squeaks\n' });

const git = (input: string, ...words: string[]): string =>
  execFileSync('git', [`--git-dir=${bare}`, ...words], {
    input,
    env: {
      PATH: process.env['PATH'],
      GIT_AUTHOR_NAME: 'B',
      GIT_AUTHOR_EMAIL: 'b@example.org',
      GIT_COMMITTER_NAME: 'B',
      GIT_COMMITTER_EMAIL: 'b@example.org',
    },
  })
    .toString()
    .trim();

/** A branch of main with one changed file. */
function branch(name: string, text: string): string {
  const blob = git(text, 'hash-object', '-w', '--stdin');
  const tree = git(`100644 blob ${blob}\tgate.txt\n`, 'mktree');
  const commit = git('', 'commit-tree', '-p', git('', 'rev-parse', 'main'), '-m', name, tree);
  git('', 'update-ref', `refs/heads/${name}`, commit);
  return commit;
}

const hearth = (words: readonly string[], options: RunCliOptions = {}) =>
  runCli(['pull', ...words], {
    cwd: folder,
    openModules: async () => ({ ...modules, close: async () => {} }),
    ...options,
    env: { SERVICE_DATA_DIR: dataDir, ...options.env },
  });
const json = async (...words: string[]) => JSON.parse((await hearth([...words, '--json'])).stdout) as unknown;

t.test('pull requests are opened, listed, shown, changed and merged', async (t) => {
  const head = branch('oiled', 'oiled\n');
  const opened = await hearth(['new', 'alice/garden', '--head', 'oiled', '--title', 'Oil it', '--body', 'The gate.']);
  t.match(opened, { code: 0, stdout: 'Opened alice/garden#1.\n', stderr: '' });
  t.match(await json('list', 'alice/garden'), [
    { number: 1, title: 'Oil it', state: 'open', draft: false, base: 'main', head: 'oiled', headOid: head, round: 1 },
  ]);
  t.match(await hearth(['list', 'alice/garden']), { stdout: /^1\tOil it\topen\tAdministrator\toiled\tmain\t1\t/ });
  await modules.issues.open(alice, { owner: 'alice', name: 'garden' }, { title: 'An issue' });
  t.equal(((await json('list', 'alice/garden')) as unknown[]).length, 1, 'an issue is no pull request');
  t.match(await hearth(['show', 'alice/garden', '2']), { code: 3, stderr: /pull request/i });
  t.match(await hearth(['comment', 'alice/garden', '1', '--body', 'With what?']), { stdout: /^Commented/ });
  t.match((await hearth(['show', 'alice/garden', '1'])).stdout, /Rounds\t1 \(first\)\n[^]*The gate\.\n[^]*With what\?/);
  t.match(await json('show', 'alice/garden', '1'), { rounds: [{ round: 1, headOid: head, commits: 1 }], blocks: [] });
  t.match((await hearth(['diff', 'alice/garden', '1'])).stdout, /^diff --git a\/gate\.txt [^]*\n\+oiled\n$/);
  t.match(await hearth(['diff', 'alice/garden', '1', '--round', '2']), { code: 3 });
  t.match(
    (await hearth(['checkout', 'alice/garden', '1'])).stdout,
    /^git fetch \S+garden\.git refs\/pull\/1\/head:pull\/1\ngit checkout pull\/1\n$/,
  );
  t.match(await hearth(['draft', 'alice/garden', '1']), { stdout: 'alice/garden#1 is now a draft.\n' });
  t.match(await hearth(['merge', 'alice/garden', '1']), { code: 4, stderr: /draft/ });
  t.match(await hearth(['merge', 'alice/garden', '1', '--dry-run']), { code: 0, stdout: /draft/ });
  t.match(await hearth(['ready', 'alice/garden', '1']), { stdout: 'alice/garden#1 is now ready for review.\n' });
  t.match(await hearth(['close', 'alice/garden', '1']), { stdout: 'Closed alice/garden#1.\n' });
  t.match(await hearth(['reopen', 'alice/garden', '1']), { stdout: 'Reopened alice/garden#1.\n' });
  t.match(await hearth(['merge', 'alice/garden', '1', '--as', 'bob']), { code: 4 }, 'bob may not write');
  t.match(await hearth(['merge', 'alice/garden', '1', '--round', '2']), { code: 4, stderr: /round/ });
  const merged = await hearth(['merge', 'alice/garden', '1', '--style', 'squash', '--as', 'alice', '--delete-branch']);
  t.match(merged, { code: 0, stdout: /^Merged alice\/garden#1 into main as [0-9a-f]{10}\.\n$/, stderr: '' });
  t.match(git('', 'show', '-s', '--format=%s', 'main'), /^Oil it/);
  t.equal(git('', 'for-each-ref', 'refs/heads/oiled'), '');
  t.match(await json('show', 'alice/garden', '1'), { state: 'merged', mergedOid: String, mergedAt: String });
});

t.test('conflicts and later merges are told', async (t) => {
  branch('painted', 'painted\n');
  await hearth(['new', 'alice/garden', '--head', 'painted', '--title', 'Paint it', '--body', '']);
  branch('rusty', 'rusty\n');
  git('', 'update-ref', 'refs/heads/main', 'refs/heads/rusty');
  t.match(await json('merge', 'alice/garden', '3', '--dry-run'), { blocks: ['conflict'], conflicts: ['gate.txt'] });
  t.match(await hearth(['merge', 'alice/garden', '3', '--cancel', '--when-ready']), { code: 2 });
  t.match(await hearth(['merge', 'alice/garden', '3', '--when-ready', '--as', 'alice']), { code: 0 });
  t.match(await hearth(['merge', 'alice/garden', '3', '--cancel', '--as', 'alice']), { code: 0 });
});

t.test('pull requests are reviewed', async (t) => {
  const file = path.join(folder, 'review.md');
  writeFileSync(file, 'Two things.\n');
  const at = ['alice/garden', '3'];
  t.match(await hearth(['reviewers', ...at, '--add', 'bob']), {
    stdout: 'alice/garden#3 is waiting for bob.\n',
    code: 0,
  });
  t.match(await hearth(['reviewers', ...at]), { code: 2 });
  t.match((await hearth(['show', ...at])).stdout, /Waiting for\tbob\n/);
  t.match(await hearth(['review', ...at, '--approve']), { code: 2, stderr: /--as/ });
  t.match(await hearth(['review', ...at, '--as', 'bob']), { code: 2, stderr: /--approve/ });
  t.match(await hearth(['review', ...at, '--approve', '--comment', '--as', 'bob']), { code: 2 });
  t.match(await hearth(['review', ...at, '--comment', '--on', 'gate.txt', '--as', 'bob']), {
    code: 2,
    stderr: /path:line/,
  });
  const places = ['--on', 'gate.txt:1: Which paint?', 'absent.txt:1: Where?'];
  t.match(await hearth(['review', ...at, '--comment', ...places, '--as', 'bob']), { code: 2, stderr: /absent|file/i });
  t.same(((await json('show', ...at)) as { threads: unknown }).threads, [], 'all comments or none');
  t.match(
    await hearth([
      'review',
      ...at,
      '--request-changes',
      '--file',
      file,
      '--on',
      'gate.txt:1: Which paint?',
      '--as',
      'bob',
    ]),
    {
      code: 0,
      stdout: 'Requested changes on alice/garden#3 (round 1).\n',
    },
  );
  const shown = (await hearth(['show', ...at])).stdout;
  t.match(shown, /Reviews\tbob requested changes \(round 1\)\n/);
  t.match(shown, /\n--- bob requested changes \(round 1\), \S+Z\nTwo things\.\n/);
  t.match(shown, /\n--- gate\.txt:1 \(round 1, open\)\n> painted\nbob, \S+Z:\nWhich paint\?\n/);
  t.match(await json('show', ...at), {
    reviews: [{ author: 'bob', verdict: 'request_changes', round: 1, body: 'Two things.' }],
    threads: [{ path: 'gate.txt', side: 'new', firstLine: 1, resolved: false, comments: [{ author: 'bob' }] }],
  });
  t.match(await hearth(['review', ...at, '--approve', '--as', 'bob']), {
    stdout: 'Approved alice/garden#3 (round 1).\n',
  });
  t.match(await hearth(['review', ...at, '--comment', '--as', 'bob'], { input: 'From a pipe.\n' }), { code: 0 });
  t.match((await hearth(['show', ...at])).stdout, /From a pipe\.\n/);
});

t.test('a review from an answered patch', async (t) => {
  const at = ['alice/garden', '3'];
  const patch = (await hearth(['diff', ...at, '--patch'])).stdout;
  const quoted = patch.replaceAll(/^/gm, '> ');
  const text = quoted
    .replace(/^> \+painted$/m, '> +painted\n\nIn which colour?\n')
    .replace(/^> Subject: .*$/m, '$&\n\nA good start.');
  t.not(text, quoted);
  t.match(await hearth(['review', ...at, '--as', 'bob'], { input: text.replace('> +painted', '> +plastered') }), {
    code: 2,
    stderr: /quotes text that is not in the patch of this round/,
  });
  const file = path.join(folder, 'answers.txt');
  writeFileSync(file, text);
  t.match(await hearth(['review', ...at, '--request-changes', '--file', file, '--round', '1', '--as', 'bob']), {
    code: 0,
    stdout: 'Requested changes on alice/garden#3 (round 1).\n',
  });
  const again = text.replace('In which colour?', 'And how often?').replace('A good start.', 'Later.');
  t.match(await hearth(['review', ...at, '--as', 'bob'], { input: again }), { code: 0, stdout: /^Reviewed/ });
  const { reviews, threads } = (await json('show', ...at)) as Record<string, { [name: string]: unknown }[]>;
  t.match(reviews!.slice(-2), [
    { verdict: 'request_changes', body: '> Subject: [PATCH] painted\n\nA good start.' },
    { verdict: 'comment', body: /Later\.$/ },
  ]);
  const bodies = threads!.map(({ path: name, side, firstLine, comments }) => [
    name,
    side,
    firstLine,
    (comments as { body: string }[])[0]!.body,
  ]);
  t.match(bodies.slice(-2), [
    ['gate.txt', 'new', 1, 'In which colour?'],
    ['gate.txt', 'new', 1, 'And how often?'],
  ]);
  t.match(await hearth(['review', ...at, '--as', 'bob'], { input: 'Words alone.\n' }), {
    code: 2,
    stderr: /--approve/,
  });
});

t.test('a pull request from a patch: a file, standard input, the next round, and what is none', async (t) => {
  const main = git('', 'rev-parse', 'main');
  const made = branch('Varnish it'.replaceAll(' ', '-'), 'varnished\n');
  const changed = `${git('', 'format-patch', '--stdout', '-1', made)}\n`;
  git('', 'update-ref', '-d', 'refs/heads/Varnish-it');
  t.match(changed, /^\+varnished$/m);
  const file = path.join(folder, 'varnish.patch');
  writeFileSync(file, changed);
  const countOf = async () => ((await json('list', 'alice/garden', '--state', 'all')) as unknown[]).length;
  const before = await countOf();
  const refs = git('', 'for-each-ref');

  for (const [text, said] of [
    ['', /patch is empty/],
    ['only words\n', /not a patch/],
    [changed.replace(/^-(?!-).*$/m, '-is silent'), /cannot be applied: gate\.txt/],
    [changed.slice(0, changed.indexOf('@@')), /patch/i],
  ] as const) {
    const refused = await hearth(['new', 'alice/garden', '--patch', '-', '--as', 'bob'], { input: text });
    t.not(refused.code, 0);
    t.match(refused.stderr, said);
    t.notMatch(refused.stderr, /at .*\.ts:|Error:/, 'no stack trace');
    t.equal(refused.stdout, '');
  }
  t.match(await hearth(['new', 'alice/garden', '--patch', path.join(folder, 'none.patch')]), {
    code: 2,
    stderr: /none\.patch cannot be read: no such file/,
  });
  t.match(await hearth(['new', 'alice/garden', '--patch', file, '--head', 'painted']), { code: 2, stderr: /--patch/ });
  t.match(await hearth(['new', 'alice/garden', '--patch', '-', '--file', '-'], { input: changed }), { code: 2 });
  t.equal(await countOf(), before, 'nothing was opened');
  t.equal(git('', 'for-each-ref'), refs, 'and no ref was made');

  const opened = await hearth(['new', 'alice/garden', '--patch', file, '--as', 'bob']);
  t.match(opened, { code: 0, stdout: /^Opened alice\/garden#\d+\.\n$/, stderr: '' });
  const number = /#(\d+)/.exec(opened.stdout)![1]!;
  t.match(await json('show', 'alice/garden', number), { title: 'Varnish-it', rounds: [{ round: 1, commits: 1 }] });
  t.match((await hearth(['diff', 'alice/garden', number])).stdout, /\n\+varnished\n$/);
  const next = changed.replace(/^\+varnished$/m, '+varnished twice');
  t.match(await hearth(['new', 'alice/garden', '--patch', '-', '--pull', number, '--as', 'bob'], { input: next }), {
    code: 0,
    stdout: `Added round 2 to alice/garden#${number}.\n`,
  });
  t.match((await hearth(['diff', 'alice/garden', number])).stdout, /\n\+varnished twice\n$/);
  t.match(
    await hearth(['new', 'alice/garden', '--patch', '-', '--pull', number, '--as', 'bob'], { input: 'words\n' }),
    { stderr: /patch/i, stdout: '' },
  );
  t.match(await json('show', 'alice/garden', number), { rounds: [{ round: 1 }, { round: 2 }] });
  t.match(await hearth(['new', 'alice/garden', '--patch', '-', '--title', 'By its title'], { input: next }), {
    code: 0,
  });
  t.match(await json('show', 'alice/garden', String(Number(number) + 1)), { title: 'By its title', draft: false });
  t.equal(git('', 'rev-parse', 'main'), main, 'the branch is left alone');
});

t.test('lists by branch, and patches', async (t) => {
  t.match(await json('list', 'alice/garden', '--base', 'main', '--head', 'painted'), [{ number: 3 }]);
  t.same(await json('list', 'alice/garden', '--base', 'oiled'), []);
  t.same(await json('list', 'alice/garden', '--head', 'bob:painted'), []);
  t.match(await json('list', 'alice/garden', '--state', 'merged'), [{ number: 1 }]);
  t.match(
    (await hearth(['diff', 'alice/garden', '3', '--patch'])).stdout,
    /^From [0-9a-f]{40} [^]*\nSubject: \[PATCH\] painted\n/,
  );
  t.match(await hearth(['diff', 'alice/garden', '2', '--patch']), { code: 3 });
});

t.test('a stack', async (t) => {
  t.same(await json('stack', 'alice/garden', '3'), []);
  const at = { owner: 'alice', name: 'garden' };
  await modules.issues.addLink(alice, { ...at, number: 3 }, 'needs', { ...at, number: 1 });
  t.match(await hearth(['stack', 'alice/garden', '3']), {
    stdout: '1\tOil it\tmerged\t\n3\tPaint it\topen\t#1\n',
  });
  t.match(await json('stack', 'alice/garden', '1'), [
    { number: 1, state: 'merged', needs: [] },
    { number: 3, state: 'open', needs: [1], isBehind: false },
  ]);
  t.match(await hearth(['stack', 'alice/garden', '2']), { code: 3 });
});

t.test('the merge queue of a branch', async (t) => {
  const ruleId = await modules.repositories.rules.add(alice, 'alice', 'garden', {
    pattern: 'main',
    target: 'BRANCH',
    merging: { upToDate: 'queue', checks: ['build (merge_group)'], adminsToo: false },
  });
  t.match(await hearth(['queue', 'alice/garden']), { code: 0, stdout: '' });
  const numbers: string[] = [];
  for (const name of ['gilded', 'carved']) {
    branch(name, `${name}\n`);
    const opened = await hearth(['new', 'alice/garden', '--head', name, '--title', name, '--body', '']);
    numbers.push(/#(\d+)\.$/m.exec(opened.stdout)![1]!);
  }
  const [one, two] = numbers as [string, string];
  t.match(await hearth(['merge', 'alice/garden', one, '--as', 'alice']), { code: 4, stderr: /queue/ });
  t.match(await hearth(['queue', 'alice/garden', one]), { code: 4, stderr: /only a user/ });
  t.match(await hearth(['queue', 'alice/garden', one, '--as', 'bob']), { code: 4 }, 'bob may not write');
  t.match(await hearth(['queue', 'alice/garden', '--leave']), { code: 2, stderr: /number/ });
  t.match(await hearth(['queue', 'alice/garden', one, '--leave', '--first']), { code: 2 });
  t.match(await hearth(['queue', 'alice/garden', one, '--leave', '--as', 'alice']), { code: 4, stderr: /not in/ });
  t.match(await hearth(['queue', 'alice/garden', one, '--as', 'alice']), {
    code: 0,
    stdout: `alice/garden#${one} is in the merge queue of main, position 1 of 1.\n`,
  });
  t.match(await hearth(['queue', 'alice/garden', one, '--as', 'alice']), { code: 4, stderr: /already/ });
  t.match(await json('queue', 'alice/garden', two, '--style', 'squash', '--as', 'alice'), {
    number: Number(two),
    place: 2,
    length: 2,
    baseBranch: 'main',
  });
  t.match(await json('queue', 'alice/garden', two, '--first', '--as', 'alice'), { number: Number(two), length: 2 });
  t.match(await json('queue', 'alice/garden'), [{ place: 1 }, { place: 2 }]);
  t.match((await hearth(['queue', 'alice/garden'])).stdout, /^main\t1\t\d\t(gilded|carved)\t(testing|waiting)\t/);
  for (const number of numbers)
    t.match(await hearth(['queue', 'alice/garden', number, '--leave', '--as', 'alice']), {
      stdout: `Removed alice/garden#${number} from the merge queue.\n`,
    });
  t.same(await json('queue', 'alice/garden'), []);
  await modules.repositories.rules.remove(alice, 'alice', 'garden', ruleId);
  t.match(await hearth(['queue', 'alice/garden', one, '--as', 'alice']), { code: 4, stderr: /no merge queue/ });
});
