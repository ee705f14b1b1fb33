// time limit: 420 s
// CI as a person sees it: a real push, a runner simulated by an independent client, and Chromium.
import t from 'tap';
import { launchBrowser } from '../fixtures/browser.ts';
import type { Browser, Page } from 'playwright-core';
import { allRules, presentationRules, findViolations } from '../fixtures/axe.ts';
import { rowsOf, startForge } from '../http-runner/rpc-fixture.ts';
import type { Forge } from '../http-runner/rpc-fixture.ts';
import { connectClient } from '../http-runner/runner-client.ts';

const file = `name: CI
on: {push: , workflow_dispatch: {inputs: {version: {required: true}}}}
jobs:
  build:
    runs-on: linux
    strategy: {fail-fast: false, matrix: {version: ["3.10", 18]}}
    steps: [{uses: actions/checkout@v4}, {name: Build it, run: make}]
  package: {needs: build, runs-on: linux, steps: [{run: tar}]}
`;
const broken = 'on: push\njobs:\n  a:\n    steps: [{run: x}]\n';

const now = () => ({ seconds: BigInt(Math.floor(Date.now() / 1000)) });
const step = (id: number, from: number, length: number, result?: number) => ({
  id: BigInt(id),
  startedAt: now(),
  logIndex: BigInt(from),
  logLength: BigInt(length),
  ...(result === undefined ? {} : { result, stoppedAt: now() }),
});

t.setTimeout(420_000);

let browser: Browser;
t.before(async () => {
  browser = await launchBrowser();
});
t.teardown(() => browser.close());

async function signedIn({ url, alice }: Forge, options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
  const context = await browser.newContext(options);
  await context.addCookies([{ name: 'hearth_session', value: alice.session, url }]);
  return context.newPage();
}

t.test('a person watches a matrix workflow that their push started', { timeout: 90_000 }, async (t) => {
  const forge = await startForge(t);
  const B = `${forge.url}/repos/alice/work`;
  const page = await signedIn(forge);
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
  const client = connectClient(forge.url, { headers: await forge.register(['linux']) });
  const waiting = client.fetchTask({}, { timeoutMs: 20_000 });
  await forge.push({ '.hearth/workflows/ci.yml': file }, 'Build <b>it</b>');
  const first = (await waiting).task;

  await page.goto(`${B}/runs`);
  t.match(await page.getByRole('main').innerText(), /Build <b>it<\/b>/);
  const workflows = page.getByRole('navigation', { name: 'Workflows' });
  await workflows.getByRole('link', { name: 'CI', exact: true }).click();
  t.match(page.url(), /runs\?workflow=ci\.yml$/);
  t.equal(await workflows.locator('[aria-current]').innerText(), 'CI');
  await page.getByLabel('State').selectOption('failure');
  await page.getByRole('button', { name: 'Filter' }).click();
  t.match(page.url(), /workflow=ci\.yml&status=failure/, 'the other filters keep the workflow');
  t.match(await page.getByRole('main').innerText(), /No runs match/);
  await workflows.getByRole('link', { name: 'All workflows' }).click();
  await page.getByLabel('State').selectOption('');
  await page.getByRole('button', { name: 'Filter' }).click();
  await page.getByRole('link', { name: 'Build <b>it</b>' }).click();
  t.equal(await page.locator('.graph-node').count(), 2);
  t.same(await page.locator('.graph-member title').allTextContents(), ['build (3.10): Running', 'build (18): Waiting']);
  await page.setViewportSize({ width: 360, height: 740 });
  const runUrl = page.url();
  await page.locator('.graph-member').first().click();
  t.match(page.url(), /\/jobs\/\d+$/, 'each matrix job has its own state, which leads to it');
  await page.evaluate(() => window.scrollTo(500, 0));
  t.equal(await page.evaluate(() => window.scrollX), 0, 'the list of jobs scrolls by itself');
  await page.setViewportSize({ width: 1280, height: 720 });
  await page.goto(runUrl);
  t.match(await page.getByRole('main').innerText(), /package\s+It needs build first\./);

  await page.getByRole('link', { name: 'build (3.10)', exact: true }).click();
  await client.updateLog({
    taskId: first.id,
    rows: rowsOf('first row', '\u001b[31mred\u001b[0m <script>alert(1)</script>'),
  });
  await page.getByText('first row').waitFor();
  // Its text is empty until the browser has laid out the rows in view.
  await page.locator('.a-red', { hasText: /^red$/ }).waitFor();
  await client.updateTask({ state: { id: first.id, startedAt: now(), steps: [step(0, 0, 1, 1), step(1, 1, 1)] } });
  await page.locator('summary', { hasText: 'Build it' }).locator('.is-busy').waitFor();
  await client.updateLog({ taskId: first.id, index: 2n, rows: rowsOf('live row'), noMore: true });
  await page.getByText('live row').waitFor();
  await client.updateTask({ state: { id: first.id, result: 1, steps: [step(0, 0, 1, 1), step(1, 1, 2, 1)] } });
  await page.locator('.run-facts', { hasText: 'Succeeded' }).waitFor();
  await page.locator('summary', { hasText: 'Set up' }).or(page.locator('#step-1 > summary')).first().click();
  await page.locator('#L1').waitFor();
  t.equal(await page.locator('.log-row').count(), 3, 'every row once');
  await page.goto(`${page.url().split('?')[0]}#L3`);
  await page.reload();
  t.equal(await page.locator('#L3 .log-text').innerText(), 'live row', 'a row has an address');

  await page.getByRole('searchbox', { name: 'Search the log' }).fill('LIVE');
  await page.getByRole('button', { name: 'Search', exact: true }).click();
  t.match(await page.locator('.hits').innerText(), /1 row with “LIVE”/);
  const download = await page.request.get(`${page.url().split('?')[0]}/log`);
  t.match(await download.text(), /^\S+Z first row\n\S+Z \u001b\[31mred\u001b\[0m <script>/);
  t.match(download.headers()['content-disposition'], /attachment/);

  // A change that comes while the page asks for the one before is shown, too: its answer is from before.
  const second = (await client.fetchTask({})).task;
  let held: (() => void) | null = null;
  let isHeld: () => void = () => {};
  const asked = new Promise<void>((resolve) => (isHeld = resolve));
  await page.route(`${B}/runs/1`, async (route) => {
    if (route.request().resourceType() !== 'fetch' || held !== null) return route.continue();
    const response = await route.fetch();
    const released = new Promise<void>((resolve) => (held = resolve));
    isHeld();
    await released;
    await route.fulfill({ response });
  });
  await page.goto(`${B}/runs/1`);
  await asked;
  await client.updateTask({ state: { id: second.id, result: 2 } });
  await page.waitForTimeout(1000);
  held!();
  await page.locator('.run-facts', { hasText: 'Failed' }).waitFor();
  await page.unroute(`${B}/runs/1`);
  await page.locator('summary', { hasText: 'Re-run' }).click();
  await page.getByRole('button', { name: 'Re-run failed jobs' }).click();
  await page.getByText('The jobs are re-run as a new attempt.').waitFor();
  t.match(await page.getByRole('main').innerText(), /Attempt 2\s+Attempt 1/);
  await page.locator('summary', { hasText: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByText('The run has been cancelled.').waitFor();
  t.strictSame(faults, []);
});

const logRows = Number(process.env['HEARTH_LOG_ROWS'] ?? 30_000);

t.test(
  `a failed run of 13 steps and ${logRows} rows shows its error without scrolling`,
  { timeout: 200_000 },
  async (t) => {
    const forge = await startForge(t);
    const steps = Array.from({ length: 13 }, (_, at) => `{name: Part ${at + 1}, run: make}`).join(', ');
    const sha = await forge.push({
      'src/app.ts': 'one\ntwo\nthree\n',
      '.hearth/workflows/ci.yml': `name: CI\non: push\njobs:\n  build: {runs-on: linux, steps: [${steps}]}\n  docs: {runs-on: other, steps: [{run: x}]}\n`,
    });
    const client = connectClient(forge.url, { headers: await forge.register(['linux']) });
    const { task } = await client.fetchTask({});
    const error = logRows - 400;
    const content = (row: number): string =>
      row === error
        ? '::error file=src/app.ts,line=2,title=Type::Expected a number. See https://example.org/ts1.'
        : row % 1000 === 0
          ? `::group::Part ${row}`
          : row % 1000 === 900
            ? '::endgroup::'
            : `row ${row}\rcompiling file ${row}`;
    for (let from = 0; from < logRows; from += 10_000)
      await client.updateLog({
        taskId: task.id,
        index: BigInt(from),
        rows: rowsOf(...Array.from({ length: Math.min(10_000, logRows - from) }, (_, at) => content(from + at))),
      });
    await client.updateLog({ taskId: task.id, index: BigInt(logRows), rows: [], noMore: true });
    const ends = Array.from({ length: 12 }, (_, at) => (at + 1) * 1000);
    const reported = [...ends, logRows].map((end, at) => step(at, at * 1000, end - at * 1000, at === 12 ? 2 : 1));
    await client.updateTask({ state: { id: task.id, result: 2, steps: reported } });
    const summary = `${forge.url}/api/actions_pipeline/_apis/pipelines/workflows/${task.context.run_id}/jobs/1/steps/12/summary`;
    t.equal((await fetch(summary, { method: 'PUT', body: 'x' })).status, 401);

    const url = `${forge.url}/repos/alice/work/runs/1`;
    for (const width of [1280, 360]) {
      for (const javaScriptEnabled of [false, true]) {
        const page = await signedIn(forge, { viewport: { width, height: 800 }, javaScriptEnabled });
        for (const address of [url, `${url}/jobs/1`]) {
          await page.goto(address);
          const found = await page.getByText('Expected a number.').first().boundingBox();
          t.ok(found !== null && found.y + found.height <= 800, `${address} at ${width}: ${JSON.stringify(found)}`);
          t.ok(
            await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
            'no wider than the window',
          );
          if (process.env['HEARTH_SCREENSHOTS'])
            await page.screenshot({
              path: `${process.env['HEARTH_SCREENSHOTS']}/${address === url ? 'run' : 'job'}-${width}.png`,
            });
        }
        t.equal(await page.locator('.log-section[open]').count(), 1, 'the step that failed alone is open');
        t.match(await page.locator('.log-section[open] > summary').innerText(), /Part 13\s+1 error/);
        t.equal(await page.locator('.log-row.is-target').getAttribute('id'), `L${error + 1}`);
        t.equal(
          await page.locator(`#L${error} .log-text`).innerText(),
          `compiling file ${error - 1}`,
          'the last state',
        );
        t.equal(
          await page.locator(`#L${error + 1} a[href="https://example.org/ts1"]`).count(),
          1,
          'a link without its full stop',
        );
        t.match(await page.locator('.job-list').innerText(), /build[^]*docs/);
        await page.getByRole('link', { name: 'Show times' }).click();
        await page.waitForURL(/times=1/);
        t.match(await page.locator('.log-row.is-target .log-time').innerText(), /^\d\d:\d\d:\d\d$/);
        await page.getByRole('searchbox', { name: 'Search the log' }).fill('FILE 77');
        await page.getByRole('button', { name: 'Search', exact: true }).click();
        t.match(await page.locator('.hits header').last().innerText(), /rows with “FILE 77”; the first 100/);
        // The rows come after the hits; on a slow machine the page is read before its end.
        await page.locator('.log-row .log-time').first().waitFor();
        t.ok(await page.locator('.log-time').count(), 'what was chosen stays');
        await page.locator('#step-2 a, #step-2 > summary').first().click();
        if (!javaScriptEnabled) await page.locator('#step-2 a').first().click();
        await page.locator('#L1001').waitFor();
        t.equal(await page.locator('#L1002').isVisible(), false, 'groups are folded');
        await page.locator('#L1001 .log-text').click();
        t.equal(await page.locator('#L1002').isVisible(), true);
        await page.context().close();
      }
    }
    const page = await signedIn(forge, { viewport: { width: 1280, height: 800 } });
    await page.goto(url);
    await page.getByRole('link', { name: 'src/app.ts:2' }).click();
    t.match(page.url(), new RegExp(`/blob/${sha}/src/app.ts`));
    await page.goto(`${url}/workflow`);
    t.match(await page.locator('pre.code').innerText(), /runs-on: linux/);
  },
);

t.test('every page of CI passes axe, in light and dark, wide and narrow', { timeout: 240_000 }, async (t) => {
  const forge = await startForge(t);
  const { ci } = forge.modules;
  await forge.push({
    '.hearth/workflows/ci.yml': file,
    '.hearth/workflows/bad.yml': broken,
    '.hearth/workflows/proposals.yml':
      'name: Proposals\non: [pull_request, workflow_call]\njobs: {a: {runs-on: x, steps: [{run: x}]}}\n',
  });
  const client = connectClient(forge.url, { headers: await forge.register(['linux']) });
  const { task } = await client.fetchTask({});
  await client.updateLog({
    taskId: task.id,
    rows: rowsOf(
      '##[group]Set up',
      '\u001b[32mgreen\u001b[33m yellow\u001b[36m cyan\u001b[35m magenta\u001b[34m blue\u001b[0m',
      '::error::bad',
      '::warning::odd',
      '::debug::more',
    ),
  });
  const scope = { kind: 'repository', id: forge.found.repository.id } as const;
  await ci.secrets.set(scope, { name: 'key', value: 'abcd1234' });
  await ci.variables.set(scope, { name: 'target', value: 'here' });
  await ci.runners.create(scope, { name: 'mine', ephemeral: true });
  const job = await ci.artifacts.authoriseTask(task.context.gitea_runtime_token);
  for (const name of ['site', 'a name that is longer than a narrow window is wide, and goes on', 'gone']) {
    await ci.artifacts.receive(
      await ci.artifacts.create(job, { name, expiresAt: null }),
      { kind: 'whole' },
      (async function* () {
        yield Buffer.from(name);
      })(),
    );
    await ci.artifacts.finish(job, { name, sizeBytes: null, digest: null });
  }
  await ci.artifacts.removeOfTask(job, 'gone');
  // Rights are read with each request; her session ends when they change.
  await forge.modules.accounts.setAdministrator(forge.alice.id, true);
  const session = (await forge.modules.accounts.startSession(forge.alice.id, { address: '', userAgent: '' })).secret;
  const paths = [
    '/runs/workflows',
    '/runs',
    '/runs?status=failure',
    '/runs/1',
    '/runs/2',
    '/runs/2/jobs/1',
    '/runs/2/jobs/1?q=green',
    '/runs/2/jobs/3',
    '/runs/queue',
    '/runs/new',
    '/settings/runners',
    '/settings/secrets',
  ];
  for (const [colorScheme, width, runOnly] of [
    ['light', 1280, allRules],
    ['dark', 360, presentationRules],
  ] as const) {
    const page = await signedIn(
      { ...forge, alice: { ...forge.alice, session } },
      { colorScheme, viewport: { width, height: 900 } },
    );
    for (const target of [
      ...paths.map((path) => `/repos/alice/work${path}`),
      '/settings/runners',
      '/settings/secrets',
      '/admin/runners',
      '/admin/secrets',
      '/admin/queue',
      '/',
    ]) {
      const response = await page.goto(forge.url + target);
      t.equal(response?.status(), 200, target);
      if (target in secretReaders) t.match(await page.getByRole('main').innerText(), secretReaders[target]!);
      if (target.endsWith('/workflows'))
        t.match(
          await page.getByRole('main').innerText(),
          /line 3, column 3: The job a needs "runs-on"[^]*A pull request by a user with write access[^]*workflow_call: other workflows/,
        );
      t.strictSame(await findViolations(page, runOnly), [], `${target}, ${colorScheme}, ${width}`);
      const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
      t.ok(Number(overflow) <= 0, `${target} fits ${width} pixels`);
    }
    await page.context().close();
  }
});

/** What the pages of secrets say about who can read them. */
const secretReaders: Readonly<Record<string, string>> = {
  '/settings/secrets': 'Everyone with write access to one of your repositories can read these',
  '/admin/secrets': 'Everyone with write access to any repository of this server can read those that are not limited',
};

t.test('without scripts: registration, secrets, starting a workflow, and the view of others', async (t) => {
  const forge = await startForge(t);
  await forge.push({ '.hearth/workflows/ci.yml': file });
  const B = `${forge.url}/repos/alice/work`;
  const page = await signedIn(forge, { javaScriptEnabled: false });
  await page.goto(`${B}/settings/runners`);
  await page.getByRole('button', { name: 'Create token' }).click();
  const token = await page.getByLabel('Registration token').inputValue();
  t.match(await connectClient(forge.url).register({ name: 'joined', token, labels: ['x'] }), {
    runner: { name: 'joined' },
  });
  await page.reload();
  t.match(await page.getByRole('status').innerText(), /A token is shown only once/);
  t.match(await page.getByRole('main').innerText(), /joined/);
  await page.getByLabel('Name').fill('made here');
  await page.getByRole('button', { name: 'Create runner' }).click();
  t.match(
    JSON.parse(
      await page
        .locator('pre')
        .filter({ hasText: /^\s*\{/ })
        .innerText(),
    ),
    {
      name: 'made here',
      address: forge.url,
      token: /^[0-9a-f]{40}$/,
    },
  );

  await page.goto(`${B}/settings/secrets`);
  t.match(await page.getByRole('main').innerText(), 'Everyone with write access to this repository can read these');
  await page.locator('#name').fill('github_x');
  await page.locator('#value').fill('hunter2hunter2');
  await page.getByRole('button', { name: 'Set secret' }).click();
  t.match(await page.getByRole('alert').innerText(), /belong to the runner/);
  t.notMatch(await page.content(), /hunter2/, 'what was typed does not come back');
  await page.locator('#name').fill('deploy_key');
  await page.locator('#value').fill('hunter2hunter2');
  await page.getByRole('button', { name: 'Set secret' }).click();
  t.match(await page.getByRole('main').innerText(), /DEPLOY_KEY/);
  t.notMatch(await page.content(), /hunter2/);

  await page.goto(`${B}/runs/new`);
  await page.locator('#ref').fill('absent');
  await page.locator('[id="input-version"]').fill('1.0');
  await page.getByRole('button', { name: 'Start' }).click();
  t.equal((await page.locator('h1').innerText()) !== '', true);
  await page.goto(`${B}/runs/new`);
  await page.locator('[id="input-version"]').fill('1.0');
  await page.getByRole('button', { name: 'Start' }).click();
  t.match(page.url(), /\/runs\/2$/);
  t.match(await page.getByRole('main').innerText(), /started manually on main/);

  const outsider = await forge.addPerson('bob');
  for (const target of [
    '/runs',
    '/runs/1',
    '/runs/1/jobs/1',
    '/runs/1/live',
    '/runs/badge/ci.yml.svg',
    '/settings/runners',
    '/settings/secrets',
    '/runs/queue',
    '/runs/new',
  ]) {
    for (const Cookie of [`hearth_session=${outsider.session}`, '']) {
      const response = await fetch(`${B}${target}`, { headers: { Cookie }, redirect: 'manual' });
      t.equal(response.status, 404, `${target} ${Cookie === '' ? 'signed out' : 'to a person without access'}`);
    }
  }
  const badge = await fetch(`${B}/runs/badge/ci.yml.svg`, {
    headers: { Cookie: `hearth_session=${forge.alice.session}` },
  });
  t.match(await badge.text(), /<svg[^]*aria-label="CI: waiting"/);
  t.equal(badge.headers.get('content-type'), 'image/svg+xml; charset=utf-8');
});
