// What workflows may use, with one stock runner: each feature by what the server knows when its run has ended.
import { setTimeout as sleep } from 'node:timers/promises';
import { personViewer } from '../src/access/index.ts';
import { runGit } from '../test/fixtures/git-repositories.ts';
import type { Forge } from '../test/http-runner/rpc-fixture.ts';

const at = { owner: 'alice', name: 'work' };
const folder = '.hearth/workflows/';
const job = (...steps: string[]) => ['    runs-on: linux', '    steps:', ...steps].join('\n');
const script = (...lines: string[]) => ['      - run: |', ...lines.map((line) => `          ${line}`)].join('\n');
/** Prints the status of a call of the API with the token of the job. */
const call = (scheme: string, method: string, path: string, body = '') =>
  [
    `curl -s -o /dev/null -w '${method} ${path} %{http_code}\\n' -X ${method} -H "Authorization: ${scheme} $GITHUB_TOKEN"`,
    `-H 'Content-Type: application/json' ${body === '' ? '' : `-d '${body}'`} "$GITHUB_API_URL/repos/alice/work${path}"`,
  ].join(' ');
const withToken = `        env: {GITHUB_TOKEN: "\${{ github.token }}"}`;

/** Whatever a job of an event prints, for `says`. */
const said = (event: string, text: string, more = '') =>
  `name: On ${event}\non:\n  ${event}:${more}\njobs:\n  a:\n${job(script(`echo "said ${text}"`))}\n`;

const files: Record<string, string> = {
  'token.yml': `on: push
permissions: {contents: read, issues: write, statuses: write}
jobs:
  a:
${job(
  script(
    call('Bearer', 'GET', ''),
    call('token', 'GET', '/issues'),
    call('token', 'POST', '/issues', '{"title": "From a job"}'),
    call('Bearer', 'POST', '/commits/$GITHUB_SHA/statuses', '{"context": "lint", "state": "success"}'),
    call('Bearer', 'POST', '/branches', '{"new_branch_name": "x"}'),
  ),
  withToken,
)}
`,
  'identity.yml': `on: push
permissions: {id-token: write}
jobs:
  a:
${job(
  script(
    'if [ -z "$ACTIONS_ID_TOKEN_REQUEST_URL" ]; then echo "no address for identity tokens"; exit 0; fi',
    'answer=$(curl -sf -H "Authorization: bearer $ACTIONS_ID_TOKEN_REQUEST_TOKEN" "$ACTIONS_ID_TOKEN_REQUEST_URL&audience=vault")',
    `claims=$(echo "$answer" | sed 's/.*"value": *"//' | cut -d. -f2 | tr -- '-_' '+/')`,
    `(echo "$claims==" | base64 -d 2>/dev/null || true) | grep -o '"sub":"[^"]*"'`,
  ),
)}
`,
  'called.yml': `on:
  workflow_call:
    inputs: {word: {type: string}}
    outputs: {word: {value: "\${{ jobs.say.outputs.word }}"}}
    secrets: {KEY: {}}
jobs:
  say:
    outputs: {word: "\${{ steps.x.outputs.word }}"}
${job(script('test "$KEY" = "a secret value"', 'echo "word=${{ inputs.word }}" >> "$GITHUB_OUTPUT"')).replace(
  '- run',
  '- id: x\n        env: {KEY: "${{ secrets.KEY }}"}\n        run',
)}
`,
  'outer.yml': `on: {workflow_call: {inputs: {word: {type: string}}}}
jobs:
  inner: {uses: ./.hearth/workflows/called.yml, with: {word: "\${{ inputs.word }}"}, secrets: inherit}
`,
  'calls.yml': `on: push
jobs:
  matrix:
    strategy: {matrix: {word: [one, two]}}
    uses: ./.hearth/workflows/outer.yml
    with: {word: "\${{ matrix.word }}"}
    secrets: inherit
  other:
    uses: alice/work/.hearth/workflows/called.yml@main
    with: {word: three}
    secrets: {KEY: "\${{ secrets.KEY }}"}
  after:
    needs: [other]
${job(script('test "${{ needs.other.outputs.word }}" = three'))}
`,
  'legs.yml': `on: push
jobs:
  t:
    strategy: {max-parallel: 1, matrix: {n: [1, 2, 3]}}
${job(script('exit ${{ matrix.n }}'))}
`,
  'live.yml': `on: push
jobs:
  chat:
${job(script('for i in $(seq 40); do echo "row $i"; sleep 0.2; done'))}
`,
  'reports.yml': `on: push
jobs:
  a:
${job(script("echo '::error file=src/a.c,line=3,title=Oops::Expected a number'", `echo '# Tests passed' >> "$GITHUB_STEP_SUMMARY"`))}
`,
  'pull.yml': `name: Pull
on: pull_request
jobs:
  test:
${job(script('echo "said [$KEY] $GITHUB_BASE_REF"'), '        env: {KEY: "${{ secrets.KEY }}"}')}
`,
  'issues.yml': said('issues', '${{ github.event.action }} ${{ github.event.issue.title }}', ' {types: [opened]}'),
  'comments.yml': said('issue_comment', '${{ github.event.comment.author_association }}'),
  'release.yml': said('release', '${{ github.event.release.tag_name }} $GITHUB_REF', ' {types: [published]}'),
  'dispatch.yml': said('repository_dispatch', '${{ github.event.client_payload.to }}'),
  'after.yml': said('workflow_run', '${{ github.event.workflow_run.conclusion }}', ' {workflows: [On release]}'),
  'hand.yml': said(
    'workflow_dispatch',
    '${{ inputs.loud && 1 || 0 }} ${{ inputs.size }}',
    ' {inputs: {loud: {type: boolean}, size: {type: number}}}',
  ),
};

/** What is wrong, or nothing; `aside` is said beside the name of a feature that holds. */
interface Outcome {
  problem?: string;
  aside?: string;
}

interface World {
  forge: Forge;
  /** Waits for the end of the newest run of a file; its status, and what its logs say. */
  ended(
    file: string,
    count?: number,
  ): Promise<{ status: string; jobs: Record<string, string>; text: string; id: number }>;
}

const needs = (text: string, ...wanted: string[]): Outcome => {
  const missing = wanted.filter((each) => !text.includes(each));
  return missing.length === 0 ? {} : { problem: `not in the log: ${missing.join('; ')}\n${text}` };
};
const isEqual = (got: unknown, wanted: unknown): Outcome =>
  JSON.stringify(got) === JSON.stringify(wanted)
    ? {}
    : { problem: `${JSON.stringify(got)} instead of ${JSON.stringify(wanted)}` };

const features: readonly { name: string; check(world: World): Promise<Outcome> }[] = [
  {
    name: 'the token of a job within its permissions, as Bearer and as token',
    check: async ({ ended }) =>
      needs(
        (await ended('token.yml')).text,
        ...['GET  200', 'GET /issues 200', 'POST /issues 201'],
        ...['POST /commits/$GITHUB_SHA/statuses 201', 'POST /branches 403'],
      ),
  },
  {
    name: 'identity tokens (OIDC)',
    async check({ ended }) {
      const { text } = await ended('identity.yml');
      return text.includes('no address for identity tokens')
        ? { aside: 'this runner hands jobs no address for them' }
        : needs(text, '"sub":"repo:alice/work:ref:refs/heads/main"');
    },
  },
  {
    name: 'called workflows: matrix, nested, by repository, secrets, outputs',
    async check({ ended }) {
      const { status, jobs } = await ended('calls.yml');
      const names = ['after', 'matrix (one) / inner / say', 'matrix (two) / inner / say', 'other / say'];
      return isEqual([status, Object.keys(jobs).sort()], ['success', names]);
    },
  },
  {
    name: '`max-parallel` with `fail-fast`',
    async check({ ended }) {
      const { status, jobs } = await ended('legs.yml');
      return isEqual([status, jobs], ['failure', { 't (1)': 'failure', 't (2)': 'cancelled', 't (3)': 'cancelled' }]);
    },
  },
  {
    name: 'a live log with four followers',
    async check({ ended }) {
      const { status, text } = await ended('live.yml');
      const rows = text.split('\n').filter((line) => /^row \d+$/.test(line));
      return isEqual([status, rows.length], ['success', 40]);
    },
  },
  {
    name: 'annotations and step summaries',
    async check({ forge: { modules, found }, ended }) {
      const { id } = await ended('reports.yml');
      for (let tries = 0; ; tries += 1) {
        const { run, jobs } = await modules.ci.runs.find(found, id);
        const [annotation] = await modules.ci.annotations.ofJobs(run, jobs);
        const summaries = await modules.ci.summaries.of(jobs.flatMap(({ taskId }) => taskId ?? []));
        if (annotation === undefined) return { problem: 'no annotation' };
        if (summaries.length > 0) return isEqual(annotation.firstLine, 3);
        if (tries === 20) return { aside: 'this runner sends no summaries' };
        await sleep(250);
      }
    },
  },
  {
    name: '`issues` and `issue_comment`',
    async check({ forge: { modules, viewer }, ended }) {
      const { number } = await modules.issues.open(viewer, at, { title: 'It leaks', body: '' });
      await modules.issues.comment(viewer, { ...at, number }, { body: 'Again.' });
      const opened = needs((await ended('issues.yml')).text, 'said opened It leaks');
      return opened.problem === undefined ? needs((await ended('comments.yml')).text, 'said OWNER') : opened;
    },
  },
  {
    name: '`release` and `workflow_run`',
    async check({ forge: { modules, viewer }, ended }) {
      await modules.releases.create(viewer, at, { tag: 'v1', target: 'main', title: 'One', body: '' });
      const released = needs((await ended('release.yml')).text, 'said v1 refs/tags/v1');
      return released.problem === undefined ? needs((await ended('after.yml')).text, 'said success') : released;
    },
  },
  {
    name: '`repository_dispatch`, and `workflow_dispatch` with inputs of any JSON type by the API',
    async check({ forge: { url, alice }, ended }) {
      const send = (path: string, body: object) =>
        fetch(`${url}/api/v1/repos/alice/work/${path}`, {
          method: 'POST',
          headers: { Authorization: `Bearer ${alice.token}`, 'Content-Type': 'application/json' },
          body: JSON.stringify(body),
        });
      await send('dispatches', { event_type: 'go', client_payload: { to: 'the moon' } });
      await send('actions/workflows/hand.yml/dispatches', { ref: 'main', inputs: { loud: true, size: 3 } });
      const sent = needs((await ended('dispatch.yml')).text, 'said the moon');
      return sent.problem === undefined ? needs((await ended('hand.yml')).text, 'said 1 3') : sent;
    },
  },
  {
    name: '`pull_request`, a required check, and approval of the code of others',
    async check({ forge: { modules, viewer, alice, found, url, ...forge }, ended }) {
      const { pulls, repositories, accounts, ci } = modules;
      await repositories.rules.add(viewer, 'alice', 'work', {
        pattern: 'main',
        target: 'BRANCH',
        merging: { checks: ['Pull / test (pull_request)'], adminsToo: true },
      });
      const host = new URL(url).host;
      const pushFrom = async (who: { username: string; token: string }, branch: string) => {
        const cwd = `${forge.folder}/work`;
        await runGit(['checkout', '--quiet', '-B', branch, 'main'], { cwd });
        await runGit(['commit', '--quiet', '--allow-empty', '-m', branch], { cwd });
        const remote = `http://${who.username}:${who.token}@${host}/git/${who.username}/work.git`;
        await runGit(['push', '--quiet', remote, `HEAD:refs/heads/${branch}`], { cwd });
        await runGit(['checkout', '--quiet', 'main'], { cwd });
      };
      await pushFrom(alice, 'topic');
      const { issue } = await pulls.open(viewer, at, { title: 'Topic', head: 'topic' });
      const merge = () => pulls.merge(viewer, { ...at, number: issue.number }, { style: 'merge', round: 1 });
      const early = await merge().then(
        () => 'merged',
        (error: { reason?: string }) => error.reason,
      );
      const own = await ended('pull.yml');
      if (!own.text.includes('said [***] main')) return { problem: own.text };
      await merge();
      await repositories.changeVisibility(viewer, 'alice', 'work', 'PUBLIC');
      const bob = await forge.addPerson('bob');
      const other = { ...personViewer(bob.id, 'admin'), username: 'bob' };
      await repositories.forks.create(other, 'alice', 'work', {});
      await pushFrom({ ...bob, username: 'bob' }, 'theirs');
      const theirs = await pulls.open(other, at, { title: 'Theirs', head: 'bob:theirs' });
      const newest = async () => (await ci.runs.list(found, { workflow: 'pull.yml' }, { limit: 1 })).runs[0];
      for (let tries = 0; tries < 100 && (await newest())?.approval !== 'waiting'; tries += 1) await sleep(100);
      const waited = (await newest())?.approval;
      const head = (await runGit(['rev-parse', 'theirs'], { cwd: `${forge.folder}/work` })).trim();
      await ci.pulls.approveAll(viewer, found, { number: theirs.issue.number, headOid: head });
      const { status, text } = await ended('pull.yml', 2);
      void accounts;
      return isEqual(
        [early, waited, status, text.includes('said [] main')],
        ['merge_blocked', 'waiting', 'success', true],
      );
    },
  },
];

/** Without the groups in which runners show the script itself. */
function outputOf(rows: readonly string[]): string {
  let isOpen = false;
  const kept = rows.filter((row) => {
    if (row.startsWith('::group::')) isOpen = true;
    const isOutput = !isOpen;
    if (row.startsWith('::endgroup::')) isOpen = false;
    return isOutput;
  });
  return kept.join('\n');
}

/** Tries every feature with the runner that is there already. @returns how many failed */
export async function tryFeatures(forge: Forge, program: string): Promise<number> {
  const { modules, found } = forge;
  const { ci } = modules;
  const scope = { kind: 'repository', id: found.repository.id } as const;
  await ci.secrets.set(scope, { name: 'KEY', value: 'a secret value' });
  const followers = new AbortController();
  const followed = new Set<number>();
  const runsOf = async (file: string) => (await ci.runs.list(found, { workflow: file }, { limit: 50 })).runs;
  const follow = async (taskId: number) => {
    followed.add(taskId);
    for (let each = 0; each < 4; each += 1)
      void (async () => {
        for await (const _ of ci.logs.follow(taskId, 0, followers.signal));
      })().catch(() => {});
  };
  const world: World = {
    forge,
    async ended(file, count = 1) {
      for (let tries = 0; tries < 600; tries += 1) {
        await ci.sweep();
        const runs = await runsOf(file);
        const run = runs.length < count ? undefined : runs[0];
        const live = (await runsOf('live.yml'))[0];
        const rows = live === undefined ? [] : (await ci.runs.find(found, live.number)).jobs;
        for (const { taskId } of rows) if (taskId !== null && !followed.has(taskId)) await follow(taskId);
        if (run === undefined || run.finishedAt === null) {
          await sleep(200);
          continue;
        }
        const { jobs } = await ci.runs.find(found, run.number);
        const texts: string[] = [];
        for (const { taskId } of jobs)
          if (taskId !== null) texts.push(...(await ci.logs.read(taskId, 0, 5_000)).rows.map(({ content }) => content));
        const states = Object.fromEntries(jobs.map(({ name, status }) => [name, status]));
        return { status: run.status, jobs: states, text: outputOf(texts), id: run.number };
      }
      throw new Error(`no run of ${file} has ended`);
    },
  };
  await forge.push(Object.fromEntries(Object.entries(files).map(([name, text]) => [`${folder}${name}`, text])));
  let failed = 0;
  for (const { name, check } of features) {
    const { problem, aside } = await check(world).catch((error: Error): Outcome => ({ problem: String(error.stack) }));
    if (problem !== undefined) failed += 1;
    console.log(
      `${problem === undefined ? 'ok  ' : 'FAIL'} ${program}: ${name}${aside === undefined ? '' : ` (${aside})`}`,
    );
    if (problem !== undefined) console.log(problem);
  }
  followers.abort();
  return failed;
}
