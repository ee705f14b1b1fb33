// time limit: 420 s
// Pages of runners and of what runs leave, in Chromium, with a runner simulated by an independent client.
import { Readable } from 'node:stream';
import t from 'tap';
import { writeZip } from '../../src/files/index.ts';
import { launchBrowser } from '../fixtures/browser.ts';
import type { Browser, Page } from 'playwright-core';
import { allRules, presentationRules, findViolations } from '../fixtures/axe.ts';
import { startForge } from '../http-runner/rpc-fixture.ts';
import type { Forge } from '../http-runner/rpc-fixture.ts';
import { connectClient } from '../http-runner/runner-client.ts';

t.setTimeout(420_000);

let browser: Browser;
t.before(async () => {
  browser = await launchBrowser();
});
t.teardown(() => browser.close());

const ci = (labels: string): Record<string, string> => ({
  '.hearth/workflows/ci.yml': `name: CI\non: push\njobs: {build: {runs-on: ${labels}, steps: [{run: make}]}}\n`,
});

async function signedIn({ url, alice }: Forge, options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
  const context = await browser.newContext(options);
  await context.addCookies([{ name: 'hearth_session', value: alice.session, url }]);
  return context.newPage();
}

/** Each page in both looks: rules of accessibility, and nothing wider than the window. */
async function inspect(t: Tap, forge: Forge, targets: readonly string[]): Promise<void> {
  for (const [colorScheme, width, runOnly] of [
    ['light', 1280, allRules],
    ['dark', 360, presentationRules],
  ] as const) {
    const page = await signedIn(forge, { colorScheme, viewport: { width, height: 900 } });
    for (const [at, target] of targets.entries()) {
      const response = await page.goto(forge.url + target);
      t.equal(response?.status(), 200, target);
      t.strictSame(await findViolations(page, runOnly), [], `${target}, ${colorScheme}, ${width}`);
      const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
      t.ok(Number(overflow) <= 0, `${target} fits ${width} pixels`);
      if (process.env['HEARTH_SHOTS'] !== undefined)
        await page.screenshot({ path: `${process.env['HEARTH_SHOTS']}/${at}-${width}.png`, fullPage: true });
    }
    await page.context().close();
  }
}
type Tap = Pick<typeof t, 'equal' | 'strictSame' | 'ok'>;

t.test('a runner: the job at hand, labels, history, and the lines that make one', async (t) => {
  const forge = await startForge(t);
  const { ci: runs } = forge.modules;
  const scope = { kind: 'repository', id: forge.found.repository.id } as const;
  const token = await runs.runners.resetRegistrationToken(scope, null);
  const { runner } = await connectClient(forge.url).register({
    name: 'builder',
    token,
    labels: ['linux'],
    version: 'v12',
  });
  const client = connectClient(forge.url, {
    headers: { 'x-runner-uuid': runner.uuid, 'x-runner-token': runner.token },
  });
  await client.declare({ version: 'v12', labels: ['linux'] });
  await forge.push(ci('linux'));
  const first = (await client.fetchTask({}, { timeoutMs: 20_000 })).task;
  await client.updateTask({ state: { id: first.id, result: 1 } });
  await forge.push(ci('linux'), 'Again');
  const second = (await client.fetchTask({}, { timeoutMs: 20_000 })).task;
  await client.updateTask({ state: { id: second.id } });

  const page = await signedIn(forge, { javaScriptEnabled: false });
  const list = `${forge.url}/repos/alice/work/settings/runners`;
  await page.goto(list);
  t.match(await page.getByRole('main').innerText(), /builder[^]*Active[^]*Working on build alice\/work, CI #2/);
  await page.getByRole('link', { name: 'builder' }).click();
  const text = () => page.getByRole('main').innerText();
  t.match(await text(), /v12[^]*Current job[^]*build\s+alice\/work, CI #2[^]*History[^]*build\s+alice\/work, CI #1/);
  await page.getByLabel('Labels').fill('linux big');
  await page.getByRole('button', { name: 'Save labels' }).click();
  t.match(await page.getByRole('status').innerText(), /The labels have been saved/);
  t.match(await text(), /does not declare big[^]*The runner itself declares linux/);
  await page.getByLabel('Labels').fill('a:b ,');
  await page.getByRole('button', { name: 'Save labels' }).click();
  t.match(await text(), /“a:b” is not a valid label/);
  t.equal(await page.getByLabel('Labels').inputValue(), 'a:b ,', 'what was typed is still there');
  await page.goto(`${list}/${runner.id}`);
  await page.getByRole('button', { name: 'Use the declared labels' }).click();
  t.match(await runs.runners.find(scope, Number(runner.id)), { labels: ['linux'], hasChosenLabels: false });
  for (const [at, status] of [
    [`${forge.url}/settings/runners/${runner.id}`, 404],
    [`${list}/99`, 404],
    [`${list}/${runner.id}?before=x`, 200],
  ] as const)
    t.equal((await page.goto(at))?.status(), status, at);

  // axe is a script.
  const scripted = await signedIn(forge);
  await scripted.goto(list);
  await scripted.getByRole('button', { name: 'Reset token' }).click();
  t.match(
    await scripted.getByRole('main').innerText(),
    /With systemd[^]*sudo sh -c[^]*In a container[^]*docker run -d --restart always/,
  );
  t.strictSame(await findViolations(scripted, allRules), []);
  await scripted.goto(list);
  await scripted.getByLabel('Name').fill('made here');
  await scripted.getByRole('button', { name: 'Create runner' }).click();
  t.match(
    await scripted.getByRole('main').innerText(),
    /With systemd[^]*\.runner[^]*In a container[^]*ci-runner\/\.runner/,
  );
  t.strictSame(await findViolations(scripted, allRules), []);
  await inspect(t, forge, ['/repos/alice/work/settings/runners', `/repos/alice/work/settings/runners/${runner.id}`]);
});

t.test('the files of an artifact, and test reports as a table', async (t) => {
  const forge = await startForge(t);
  const { ci: runs } = forge.modules;
  const client = connectClient(forge.url, { headers: await forge.register(['linux']) });
  await forge.push(ci('linux'));
  const { task } = await client.fetchTask({}, { timeoutMs: 20_000 });
  await client.updateTask({ state: { id: task.id } });
  const job = await runs.artifacts.authoriseTask(task.context.gitea_runtime_token);
  const upload = async (name: string, files: Record<string, string>): Promise<number> => {
    const sources = Object.entries(files).map(([path, text]) => ({
      path,
      bytes: Buffer.byteLength(text),
      isGzipped: false,
      open: async () => Readable.from([Buffer.from(text)]),
    }));
    await runs.artifacts.receive(
      await runs.artifacts.create(job, { name, expiresAt: null }),
      { kind: 'whole' },
      writeZip(sources),
    );
    return (await runs.artifacts.finish(job, { name, sizeBytes: null, digest: null })).id;
  };
  const failure = '<failure message="expected 3, got 4">gate.test.js:7\n  at swing</failure>';
  const passed = Array.from({ length: 60 }, (_, at) => `<testcase name="hinge ${at}" classname="Gate" time="0.1"/>`);
  const id = await upload('site', {
    'index.html': '<script>alert(1)</script>',
    'docs/a b#c.txt': 'one',
    'docs/deep/er.txt': 'two',
    'junit.xml': `<testsuite name="garden"><testcase name="swings">${failure}</testcase>${passed.join('')}</testsuite>`,
  });
  const page = await signedIn(forge, { javaScriptEnabled: false });
  const run = `${forge.url}/repos/alice/work/runs/1`;
  await page.goto(run);
  await page.getByRole('link', { name: 'show files of site' }).click();
  const text = async () => {
    await page.waitForLoadState();
    return page.getByRole('main').innerText();
  };
  t.match(await text(), /site[^]*4 files[^]*docs[^]*2 files[^]*index\.html/);
  await page.getByRole('link', { name: 'docs', exact: true }).click();
  t.match(await text(), /deep[^]*a b#c\.txt/);
  const href = await page.getByRole('link', { name: 'a b#c.txt' }).getAttribute('href');
  const response = await page.request.get(`${forge.url}${href}`);
  t.equal(await response.text(), 'one');
  t.match(response.headers(), {
    'content-disposition': /^attachment; /,
    'content-security-policy': "default-src 'none'; sandbox",
    'content-type': 'application/octet-stream',
  });
  for (const [path, status] of [
    [`/artifacts/${id}/files/none`, 404],
    [`/artifacts/${id}/files/docs`, 404],
    [`/artifacts/${id}/files/..%2f..%2fx`, 404],
    [`/artifacts/${id}/files?path=none`, 200],
    [`/artifacts/99/files`, 404],
  ] as const)
    t.equal((await page.request.get(run + path)).status(), status, path);

  await page.goto(run);
  await page.getByRole('link', { name: 'Test reports' }).click();
  t.match(await text(), /Failed 1[^]*Passed 60[^]*swings[^]*expected 3, got 4/);
  t.notMatch(await text(), /hinge/, 'what failed is shown first, alone');
  await page.getByRole('link', { name: 'Passed 60' }).click();
  await page.waitForLoadState();
  t.match(await text(), /hinge 0[^]*100 ms[^]*hinge 49/);
  await page.getByRole('link', { name: 'Next' }).click();
  t.match(await text(), /hinge 59/);
  const anonymous = await browser.newContext();
  t.equal((await anonymous.request.get(`${run}/tests`)).status(), 404, 'as the repository itself');
  await anonymous.close();
  const path = '/repos/alice/work/runs/1';
  await inspect(t, forge, [path, `${path}/artifacts/${id}/files`, `${path}/tests`, `${path}/tests?result=skipped`]);
  await runs.artifacts.remove(forge.viewer, forge.found, 1, id);
  await page.goto(`${run}/tests`);
  t.match(await text(), /No artifact of this run has a test report/);
});
