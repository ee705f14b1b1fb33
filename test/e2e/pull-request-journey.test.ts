// time limit: 300 s
// A contribution from one plain push to the merge: bob may only read, alice maintains. With stock git, an independent
// client as the runner, and Chromium without scripts; then the same over the JSON API, and on the command line.
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import type { Page } from 'playwright-core';
import { launchBrowser, mainText } from '../fixtures/browser.ts';
import { runGit } from '../fixtures/git-repositories.ts';
import { rowsOf, startForge } from '../http-runner/rpc-fixture.ts';
import { connectClient } from '../http-runner/runner-client.ts';
import { gitClient } from './git-client.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

t.setTimeout(280_000);

const check = 'Checks / test (pull_request)';
const workflow = `name: Checks
on: pull_request
jobs:
  test: {runs-on: linux, steps: [{run: make test}]}
`;
const gate = (change: Record<number, string> = {}): string =>
  Array.from({ length: 30 }, (_, at) => `${change[at + 1] ?? `const step${at + 1} = ${at + 1};`}\n`).join('');

const forge = await startForge(t, { env: { SERVICE_BASE_URL: 'https://git.example.org' } });
const { modules, viewer, url } = forge;
const bob = await forge.addPerson('bob');
await modules.repositories.changeVisibility(viewer, 'alice', 'work', 'PUBLIC');
await forge.push({ '.hearth/workflows/checks.yml': workflow, 'src/gate.ts': gate(), 'src/latch.ts': gate() }, 'Begin');
await modules.repositories.rules.add(viewer, 'alice', 'work', {
  pattern: 'main',
  target: 'BRANCH',
  merging: { approvals: 1, threadsResolved: true, checks: [check] },
});
const runner = connectClient(url, { headers: await forge.register(['linux']) });
const client = gitClient(forge.folder);
const at = (number: number) => ({ owner: 'alice', name: 'work', number });
const state = async (number: number): Promise<string> => (await modules.pulls.find(viewer, at(number))).issue.state;
const statusOf = async (oid: string): Promise<string | undefined> =>
  (await modules.repositories.statuses.ofCommit(modules.db.read, forge.found.repository.id, oid)).find(
    ({ context }) => context === check,
  )?.state;

/** Runs the one job that waits, as a runner does. */
async function runChecks(oid: string): Promise<void> {
  const { task } = await runner.fetchTask({}, { timeoutMs: 20_000 });
  await runner.updateLog({ taskId: task.id, rows: rowsOf('all tests passed'), noMore: true });
  await runner.updateTask({ state: { id: task.id, result: 1 } });
  await waitUntil(async () => (await statusOf(oid)) === 'success', 'the check is green');
}

const waitForApproval = (number: number) =>
  waitUntil(
    async () => (await modules.ci.pulls.approvalOf(viewer, forge.found, number)) !== null,
    'a run waits for approval',
  );

/** alice has looked at the code, and lets it run. */
async function approveRuns(number: number): Promise<void> {
  await waitForApproval(number);
  const { pull } = await modules.pulls.find(viewer, at(number));
  await modules.ci.pulls.approveAll(viewer, forge.found, { number, headOid: pull.headOid });
}

/** A clone of bob's with a branch, whose commits change the two files. */
async function bobsClone(name: string, marker: string) {
  const folder = path.join(forge.folder, `bob-${name}`);
  mkdirSync(folder);
  const git = (...args: string[]) => client.expect(folder, ...args);
  const remote = `http://bob:${bob.token}@${new URL(url).host}/git/alice/work.git`;
  await git('clone', '--quiet', remote, '.');
  const write = async (file: string, text: string, ...commit: string[]) => {
    writeFileSync(path.join(folder, file), text);
    await git('commit', '--quiet', '--all', '--author=Bob <bob@example.org>', ...commit);
    return git('rev-parse', 'HEAD');
  };
  await write(
    'src/gate.ts',
    gate({ 5: `const ${marker} = 5;`, 20: `const ${marker}End = 20;` }),
    '-m',
    `Name the steps of the gate (${marker})`,
  );
  const head = await write(
    'src/latch.ts',
    gate({ 10: `const ${marker} = 10;` }),
    '-m',
    `Name those of the latch (${marker})`,
  );
  return {
    head,
    git,
    push: (...args: string[]) => client.run(folder, 'push', ...args),
    /** Onto what main is now, with an answer to the review in one of the two commits. */
    async rebase(): Promise<string> {
      await git('fetch', '--quiet', 'origin');
      await git('rebase', '--quiet', 'origin/main');
      return write('src/latch.ts', gate({ 10: `const ${marker}Better = 10;` }), '--amend', '--no-edit');
    },
  };
}

/** main goes on meanwhile, elsewhere. */
async function moveOn(name: string): Promise<void> {
  const remote = url.replace('://', `://alice:${forge.alice.token}@`);
  await runGit(['pull', '--quiet', '--rebase', `${remote}/git/alice/work.git`, 'main'], {
    cwd: path.join(forge.folder, 'work'),
  });
  await forge.push({ [`docs/${name}.md`]: `# ${name}\n` }, `Document ${name}`);
}

const told = ({ code, stderr }: { code: number; stderr: string }) => ({ code, stderr });

t.test('stock git and Chromium without scripts', async (t) => {
  const browser = await launchBrowser();
  t.teardown(() => browser.close());
  const pageOf = async (session: string): Promise<Page> => {
    const context = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 1280, height: 900 } });
    context.setDefaultTimeout(15_000);
    await context.addCookies([{ name: 'hearth_session', value: session, url }]);
    return context.newPage();
  };
  const [alices, bobs] = [await pageOf(forge.alice.session), await pageOf(bob.session)];

  // One push, without a fork, by a person who may only read.
  const clone = await bobsClone('pages', 'opened');
  const first = await clone.push('origin', 'HEAD:refs/for/main');
  t.match(told(first), {
    code: 0,
    stderr: /New pull request #1: https:\/\/git\.example\.org\/repos\/alice\/work\/pulls\/1/,
  });
  const address = `${url}/repos/alice/work/pulls/1`;
  await waitUntil(async () => (await modules.pulls.find(viewer, at(1)).catch(() => null)) !== null, 'the pull request');
  await bobs.goto(address);
  t.match(await mainText(bobs), /bob wants to merge 2 commits into main/);

  // The CI waits for alice, who has looked at the code.
  await waitForApproval(1);
  await alices.goto(address);
  t.match(await mainText(alices), /A workflow is waiting for approval/);
  await alices.locator('#approval button').click();
  await runChecks(clone.head);
  await alices.goto(address);
  t.notMatch(await mainText(alices), /A workflow is waiting for approval/);
  t.match(await mainText(alices), /1 approval needed, 0 given/);

  // A review with three threads: on two lines, and on the round.
  await alices.goto(`${address}/changes`);
  const comment = async (place: string, text: string, button: string) => {
    await alices.locator(`a.add[href*="comment=${place}#"]`).click();
    await alices.getByRole('textbox', { name: 'Comment' }).fill(text);
    await alices.getByRole('button', { name: button }).click();
  };
  await comment('src/gate.ts:NEW:5', 'A good name.', 'Start a review');
  await comment('src/latch.ts:NEW:10', 'Is there a better one?', 'Add to review');
  await alices.getByRole('link', { name: 'Comment on the round' }).click();
  await alices.getByRole('textbox', { name: 'Comment' }).fill('Nearly there.');
  await alices.getByRole('button', { name: 'Add to review' }).click();
  await bobs.goto(`${address}/changes`);
  t.equal(await bobs.locator('.thread').count(), 0, 'none of it is seen before it is sent');
  await alices.getByRole('radio', { name: /^Request changes/ }).check();
  await alices.getByLabel('Summary').fill('Please look at the latch.');
  await alices.getByRole('button', { name: 'Submit review' }).click();
  await bobs.goto(`${address}/changes`);
  t.equal(await bobs.locator('.thread').count(), 3);
  await bobs.goto(`${url}/dashboard/pulls`);
  t.match(await mainText(bobs), /Name the steps|Name those/, 'it is the turn of bob');

  // A new round after a rebase: main has moved on, and one of the two files is as it was.
  await moveOn('gate');
  const rebased = await clone.rebase();
  const unclear = await clone.push('origin', 'HEAD:refs/for/main');
  t.match(told(unclear), { code: 1, stderr: /you have an open pull request for main: #1[^]*-o pull=1/ });
  const second = await clone.push('-o', 'pull=1', 'origin', 'HEAD:refs/for/main');
  t.match(told(second), { code: 0, stderr: /round 2: 2 commits, \d changed|round 2: 2 commits/ });
  await waitUntil(async () => (await modules.pulls.find(viewer, at(1))).pull.lastRound === 2, 'the round');

  // alice looks at what changed, and at nothing else.
  await alices.goto(`${address}/changes`);
  await alices.getByRole('link', { name: 'Since your last review' }).click();
  t.match(alices.url(), /\?from=1$/);
  t.strictSame(await alices.locator('.changed-name').allInnerTexts(), ['src/latch.ts'], 'not what the rebase brought');
  await alices.goto(`${address}/changes`);
  t.equal(await alices.locator('.thread').count(), 3, 'no thread is lost');
  for (let left = 3; left > 0; left -= 1) {
    await alices.getByRole('button', { name: 'Resolve' }).first().click();
    await alices.getByText('Resolved').first().waitFor();
  }
  await waitForApproval(1);
  await alices.goto(address);
  await alices.locator('#approval button').click();
  await runChecks(rebased);
  await alices.goto(`${address}/changes`);
  await alices.getByRole('radio', { name: /^Approve/ }).check();
  await alices.getByRole('button', { name: 'Submit review' }).click();
  await alices.goto(address);
  t.match(await mainText(alices), /No conflicts with the base branch/);
  await alices.locator('form[action*="/merge"] button.primary').first().click();
  t.match(await mainText(alices), /alice merged this into main/);
  await bobs.goto(address);
  t.equal(await bobs.locator('.issue-badge').first().innerText(), 'Merged');
  await clone.git('fetch', '--quiet', 'origin');
  t.equal(await clone.git('show', 'origin/main:src/latch.ts'), gate({ 10: 'const openedBetter = 10;' }).trim());
  t.match(await clone.git('log', '--format=%an', 'origin/main'), /Bob/, 'the commits are those of bob');
});

async function api(who: { token: string }, method: string, address: string, body?: unknown) {
  const response = await fetch(`${url}/api/v1/repos/alice/work${address}`, {
    method,
    headers: { Authorization: `Bearer ${who.token}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    text,
    json: text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : null,
  };
}

const bin = fileURLToPath(new URL('../../bin/hearth.ts', import.meta.url));
/** The command line on the server. */
const hearth = (...words: string[]): Promise<{ code: number; output: string }> =>
  new Promise((resolve) => {
    const env = { PATH: process.env['PATH'], HOME: forge.folder, SERVICE_DATA_DIR: path.join(forge.folder, 'data') };
    execFile(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', bin, 'pull', ...words],
      { env, cwd: forge.folder },
      (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code ?? 1), output: stdout + stderr }),
    );
  });

/** The steps of alice, each way. */
interface Way {
  /** Asks for changes with three threads. */
  review(number: number): Promise<void>;
  /** The files that changed since the first round. */
  changedSince(number: number): Promise<string[]>;
  approve(number: number): Promise<void>;
  merge(number: number): Promise<void>;
}

const ways: Record<string, Way> = {
  'the JSON API': {
    async review(number) {
      const { status, text } = await api(forge.alice, 'POST', `/pulls/${number}/reviews`, {
        event: 'REQUEST_CHANGES',
        body: 'Please look at the latch.',
        comments: [
          { path: 'src/gate.ts', new_position: 5, body: 'A good name.' },
          { path: 'src/latch.ts', new_position: 10, body: 'Is there a better one?' },
          { body: 'Nearly there.' },
        ],
      });
      t.equal(status, 200, text);
    },
    async changedSince(number) {
      const rounds = await api(forge.alice, 'GET', `/pulls/${number}/rounds`);
      t.match(rounds.json, [
        { round: 1, change: 'first' },
        { round: 2, change: 'edited', commits_count: 2 },
      ]);
      return changedFiles(number);
    },
    async approve(number) {
      const { status, text } = await api(forge.alice, 'POST', `/pulls/${number}/reviews`, {
        event: 'APPROVED',
        body: '',
      });
      t.equal(status, 200, text);
    },
    async merge(number) {
      const { status, text } = await api(forge.alice, 'POST', `/pulls/${number}/merge`, { Do: 'squash' });
      t.equal(status, 200, text);
      t.match((await api(bob, 'GET', `/pulls/${number}`)).json, { merged: true, state: 'closed' });
    },
  },
  'the command line': {
    async review(number) {
      const on = [
        'src/gate.ts:5: A good name.',
        'src/latch.ts:10: Is there a better one?',
        'src/gate.ts:20: And here.',
      ];
      const ran = await hearth(
        'review',
        'alice/work',
        String(number),
        '--request-changes',
        '--body',
        'Please look.',
        '--as',
        'alice',
        '--on',
        ...on,
      );
      t.match(ran, { code: 0, output: /Requested changes/ });
    },
    async changedSince(number) {
      const shown = await hearth('show', 'alice/work', String(number), '--json');
      t.match(JSON.parse(shown.output), { rounds: [{ round: 1 }, { round: 2 }] });
      return changedFiles(number);
    },
    async approve(number) {
      t.match(await hearth('review', 'alice/work', String(number), '--approve', '--as', 'alice'), {
        code: 0,
        output: /Approved/,
      });
    },
    async merge(number) {
      t.match(await hearth('merge', 'alice/work', String(number), '--style', 'rebase', '--as', 'alice'), {
        code: 0,
        output: /Merged/,
      });
    },
  },
};

/** What the author changed since the first round, as the page has it. */
async function changedFiles(number: number): Promise<string[]> {
  const page = await (await fetch(`${url}/repos/alice/work/pulls/${number}/changes?from=1`)).text();
  return [...page.matchAll(/class="changed-name"[^>]*>(?:<[^>]+>)*([^<]+)/g)].map(([, name]) => name!.trim());
}

for (const [way, steps] of Object.entries(ways)) {
  await t.test(way, async (t) => {
    const marker = way === 'the JSON API' ? 'api' : 'cli';
    const clone = await bobsClone(marker, marker);
    const first = await clone.push('origin', `HEAD:refs/for/main/${marker}`);
    t.equal(first.code, 0, first.stderr);
    const number = Number(/New pull request #(\d+)/.exec(first.stderr)?.[1]);
    await waitUntil(
      async () => (await modules.pulls.find(viewer, at(number)).catch(() => null)) !== null,
      'the pull request',
    );
    await approveRuns(number);
    await runChecks(clone.head);
    await steps.review(number);
    t.equal((await modules.pulls.threads.list(viewer, at(number), {})).length, 3);
    const early = await api(forge.alice, 'POST', `/pulls/${number}/merge`, { Do: 'merge' });
    t.match(early, { status: 409, text: /approval/ });
    await moveOn(marker);
    const rebased = await clone.rebase();
    t.equal((await clone.push('origin', `HEAD:refs/for/main/${marker}`)).code, 0, 'the topic says which');
    await waitUntil(async () => (await modules.pulls.find(viewer, at(number))).pull.lastRound === 2, 'the round');
    t.strictSame(await steps.changedSince(number), ['src/latch.ts']);
    for (const { id } of await modules.pulls.threads.list(viewer, at(number), {}))
      t.ok((await api(forge.alice, 'POST', `/pulls/${number}/threads/${id}/resolve`)).status < 300, 'resolved');
    await approveRuns(number);
    await runChecks(rebased);
    await steps.approve(number);
    await steps.merge(number);
    t.equal(await state(number), 'MERGED');
  });
}
