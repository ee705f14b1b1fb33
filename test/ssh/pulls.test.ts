import { execFileSync } from 'node:child_process';
import t from 'tap';
import { fillRepository } from '../fixtures/web-fixture.ts';
import { parseCommand } from '../../src/ssh/commands/parse-command.ts';
import { startSsh } from './ssh-fixture.ts';

const hearth = await startSsh(t);
const alice = await hearth.person('alice');
const bob = await hearth.person('bob');
const { repositories } = hearth.modules;
await repositories.create(alice.viewer, { name: 'site', visibility: 'PUBLIC' });
await repositories.create(alice.viewer, { name: 'vault', visibility: 'PRIVATE' });
const { path } = await repositories.find(alice.viewer, 'alice', 'site');
await fillRepository(t, path, { 'roof.txt': 'tiles\n' });

const git = (input: string, ...words: string[]): string =>
  execFileSync('git', [`--git-dir=${path}`, ...words], {
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
const blob = git('slate\u001b[31m\n', 'hash-object', '-w', '--stdin');
const tree = git(`100644 blob ${blob}\troof.txt\n`, 'mktree');
const head = git('', 'commit-tree', '-p', git('', 'rev-parse', 'main'), '-m', 'Slate', tree);
git('', 'update-ref', 'refs/heads/slate', head);

const as = (who: typeof alice, command: string, input = '') => hearth.ssh([command], { keys: [who.key], input });

t.test('pull requests are opened, listed, shown and merged by the owner of a key', async (t) => {
  t.match(await as(bob, 'pull new alice/site --head slate --title A slate roof', 'It lasts.\n'), {
    code: 0,
    stdout: 'Opened alice/site#1.\n',
    stderr: '',
  });
  t.match(
    (await as(bob, 'pull list alice/site')).stdout,
    /^1\topen\tA slate roof\tbob\tslate\tmain\t\t\d{4}-[^\n]*Z\n$/,
  );
  t.equal((await as(bob, 'issue list alice/site')).stdout, '');
  t.match(await as(alice, 'pull comment alice/site 1', 'Who has a ladder?'), { stdout: /^Commented on alice\/site#1/ });
  const shown = (await as(bob, 'hearth pull show alice/site 1')).stdout;
  t.match(
    shown,
    /branch\tslate into main\n[^]*merge\tYou may not merge[^]*\nIt lasts\.\n[^]*--- alice, [^\n]*e1\nWho has/,
  );
  t.match((await as(alice, 'pull show alice/site 1')).stdout, /merge\tnothing stands in the way\n/);
  const diff = (await as(bob, 'pull diff alice/site 1')).stdout;
  t.match(diff, /^diff --git a\/roof\.txt[^]*\n\+slate\?\[31m\n$/, 'nothing that a terminal interprets');
  t.match(await as(bob, 'pull checkout alice/site 1'), {
    stdout: /^git fetch \S+alice\/site\.git refs\/pull\/1\/head:pull\/1\ngit checkout pull\/1\n$/,
  });
  t.match(await as(bob, 'pull draft alice/site 1'), { stdout: 'alice/site#1 is a draft.\n' });
  t.match((await as(bob, 'pull list alice/site')).stdout, /^1\tdraft\t/);
  t.match(await as(alice, 'pull merge alice/site 1'), { code: 1, stderr: /draft/ });
  t.match(await as(bob, 'pull ready alice/site 1'), { code: 0 });
  t.match(await as(bob, 'pull merge alice/site 1'), { code: 1, stderr: /permission/ });
  t.match(await as(alice, 'pull close alice/site 1'), { stdout: 'Closed alice/site#1.\n' });
  t.match(await as(alice, 'pull reopen alice/site 1'), { stdout: 'Reopened alice/site#1.\n' });
  t.match(await as(alice, 'pull merge alice/site 1 --style squash --round 1 --title Slate --delete-branch'), {
    code: 0,
    stdout: /^Merged alice\/site#1 into main as [0-9a-f]{10}\.\nDeleted its branch\.\n$/,
  });
  t.match((await as(bob, 'pull list alice/site --state all')).stdout, /^1\tmerged\t/);
});

t.test('reviews by the owner of a key', async (t) => {
  git('', 'update-ref', 'refs/heads/copper', head);
  git('', 'update-ref', 'refs/heads/eaves', git('', 'rev-parse', 'main~1'));
  t.match(await as(bob, 'pull new alice/site --head copper --base eaves --title Copper', 'Green.'), {
    code: 0,
    stdout: 'Opened alice/site#2.\n',
  });
  t.match((await as(bob, 'pull list alice/site --base eaves --head copper')).stdout, /^2\topen\tCopper\t/);
  t.equal((await as(bob, 'pull list alice/site --base main')).stdout, '');
  t.match((await as(bob, 'pull list alice/site --state merged')).stdout, /^1\tmerged\t/);
  t.match(await as(bob, 'pull reviewers alice/site 2 --add alice'), { stdout: 'alice/site#2 waits for alice.\n' });
  t.match((await as(bob, 'pull show alice/site 2')).stdout, /waiting for\talice\n/);
  t.match(await as(alice, 'pull review alice/site 2 --request-changes', 'Not green.\n'), {
    stdout: 'Requested changes on alice/site#2 (round 1).\n',
  });
  const shown = (await as(bob, 'pull show alice/site 2')).stdout;
  t.match(shown, /reviews\talice requested changes \(round 1\)\nwaiting for\t\n/);
  t.match(shown, /\n--- alice requested changes \(round 1\), \S+Z\nNot green\.\n/);
  t.match(await as(bob, 'pull review alice/site 2 --approve'), { code: 1, stderr: /own pull request/ });
  t.match(await as(alice, 'pull review alice/site 2 --approve --round 9'), { code: 1, stderr: /no such round/ });
  t.match(await as(alice, 'pull review alice/site 2 --approve'), { stdout: 'Approved alice/site#2 (round 1).\n' });
  t.match((await as(bob, 'pull diff alice/site 2 --patch')).stdout, /^From [0-9a-f]{40} [^]*\n\+slate\?\[31m\n/);
  t.match(await as(bob, 'pull retarget alice/site 2 --base main'), { stdout: 'alice/site#2 merges into main.\n' });
  t.match(await as(bob, 'pull update alice/site 2'), { code: 1 }, 'bob may not push');
});

t.test('what is hidden answers like what is absent', async (t) => {
  const hidden = await as(bob, 'pull list alice/vault');
  t.same(hidden, { code: 1, stdout: '', stderr: 'hearth: repository not found\n' });
  t.same(await as(bob, 'pull list alice/absent'), hidden);
  t.same(await as(bob, 'pull show alice/vault 1'), hidden);
  t.same(await as(bob, 'pull new alice/vault --head x --title y', 'z'), hidden);
  t.match(await as(bob, 'pull show alice/site 99'), { code: 1, stderr: /not found/ });
});

t.test('the merge queue', async (t) => {
  t.equal((await as(bob, 'pull queue alice/site')).stdout, '');
  t.match(await as(alice, 'pull queue alice/site 2'), { code: 1, stderr: /no merge queue/ });
  t.match(await as(alice, 'pull queue alice/site 2 --leave'), { code: 1, stderr: /not in the merge queue/ });
  t.match(await as(alice, 'pull queue alice/site 2 --first'), { code: 1, stderr: /not in the merge queue/ });
  await repositories.rules.add(alice.viewer, 'alice', 'site', {
    pattern: 'main',
    target: 'BRANCH',
    merging: { upToDate: 'queue', checks: ['build (merge_group)'], adminsToo: false },
  });
  t.match(await as(bob, 'pull queue alice/site 2'), { code: 1, stderr: /permission/ });
  t.match(await as(alice, 'pull queue alice/site 2 --style squash'), {
    stdout: 'alice/site#2 is in the merge queue of main, place 1 of 1.\n',
  });
  t.match((await as(bob, 'pull queue alice/site')).stdout, /^main\t1\t2\tCopper\t(waiting|testing)\t/);
  t.match(await as(alice, 'pull queue alice/site 2 --leave'), {
    stdout: 'alice/site#2 is out of the merge queue.\n',
  });
});

t.test('a stack', async (t) => {
  t.equal((await as(bob, 'pull stack alice/site 2')).stdout, '');
  await hearth.modules.issues.addLink(alice.viewer, { owner: 'alice', name: 'site', number: 2 }, 'needs', {
    owner: 'alice',
    name: 'site',
    number: 1,
  });
  t.equal((await as(bob, 'pull stack alice/site 2')).stdout, '1\tmerged\tA slate roof\t\n2\topen\tCopper\t#1\n');
});

t.test('words that are no command of pull requests', async (t) => {
  for (const line of [
    'pull',
    'pull list',
    'pull show alice/site',
    'pull show alice/site x',
    'pull show alice/site 1 --all',
    'pull merge alice/site 1 --style none',
    'pull merge alice/site 1 --round x',
    'pull merge alice/site 1 --force',
    'pull new alice/site --title x',
    'pull diff alice/site 1 --round',
    'pull diff alice/site 1 --patch no',
    'pull review alice/site 1',
    'pull review alice/site 1 --approve --comment',
    'pull review alice/site 1 --approve yes',
    'pull reviewers alice/site 1',
    'pull retarget alice/site 1',
    'pull update alice/site 1 --style squash',
    'pull list alice/site --base',
    'pull queue alice/site --first',
    'pull queue alice/site x',
    'pull queue alice/site 1 --leave --first',
    'pull queue alice/site 1 --style none',
    'pull diff alice/site 1 --since x',
  ])
    t.equal(parseCommand(line), null, line);
  t.match(parseCommand('pull merge alice/site #7 --when-ready'), { kind: 'pull merge', number: 7, whenReady: true });
});
