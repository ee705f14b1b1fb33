import { fork } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { signUrl, verifyUrl } from '../../src/ci/artifacts/signed-url.ts';
import { systemRandom } from '../../src/kernel/index.ts';
import { InstanceKey } from '../../src/sealing/index.ts';
import { keysOf, startFakeS3 } from '../fixtures/fake-s3-server.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { startForge } from '../http-runner/rpc-fixture.ts';
import type { Forge } from '../http-runner/rpc-fixture.ts';
import { connectClient } from '../http-runner/runner-client.ts';
import type { Step } from './artifact-client.ts';
import { readZip } from './read-zip.ts';

const service = '/twirp/github.actions.results.api.v1.ArtifactService';
const workflow = {
  '.hearth/workflows/ci.yml':
    'on: push\njobs: {build: {runs-on: linux, steps: [{run: make}]}, test: {runs-on: linux, steps: [{run: make}]}}\n',
};

interface Job {
  taskId: bigint;
  token: string;
  runId: string;
  end(): Promise<unknown>;
}

/** A job as its runner has it. */
async function takeJob(forge: Forge): Promise<Job> {
  const runner = connectClient(forge.url, { headers: await forge.register(['linux']) });
  const { task } = await runner.fetchTask({ tasksVersion: 0n });
  const state = { id: task.id, result: 0, steps: [] };
  await runner.updateTask({ state, outputs: {} });
  return {
    taskId: task.id,
    token: task.context.gitea_runtime_token,
    runId: task.context.run_id,
    end: () => runner.updateTask({ state: { ...state, result: 1 }, outputs: {} }),
  };
}

const clients = fork(path.join(import.meta.dirname, 'artifact-client.ts'), {
  stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
});
clients.unref();
clients.channel!.unref();
t.teardown(() => clients.kill());

/** Runs a stock client as a step of a job. */
async function client(forge: Forge, job: Job, step: Omit<Step, 'env'>): Promise<{ [field: string]: unknown }> {
  const env = {
    GITHUB_SERVER_URL: 'https://github.com',
    GITHUB_WORKSPACE: forge.folder,
    GITHUB_RUN_ID: job.runId,
    RUNNER_TEMP: forge.folder,
    GITHUB_RETENTION_DAYS: '90',
    ACTIONS_RUNTIME_TOKEN: job.token,
    ACTIONS_RESULTS_URL: forge.url,
    ACTIONS_RUNTIME_URL: `${forge.url}/api/actions_pipeline/`,
  };
  const responded = once(clients, 'message');
  clients.send({ ...step, env } satisfies Step);
  return ((await responded) as [{ [field: string]: unknown }])[0];
}

interface Got {
  status: number;
  headers: Record<string, unknown>;
  body: Buffer;
}

function sendRequest(
  url: string,
  {
    method = 'GET',
    headers = {},
    body,
  }: { method?: string; headers?: Record<string, string>; body?: string | Buffer } = {},
): Promise<Got> {
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      { method, headers: { ...headers, ...(body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) }) } },
      (response) => {
        const chunks: Buffer[] = [];
        response
          .on('error', reject)
          .on('data', (chunk: Buffer) => chunks.push(chunk))
          .on('end', () =>
            resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(chunks) }),
          );
      },
    );
    sent.on('error', reject).end(body);
  });
}

/** One bare call of the service, for what no client sends. */
async function call(
  forge: Pick<Forge, 'url'>,
  { token, runId }: Job,
  method: string,
  fields: object,
): Promise<{ status: number; [field: string]: unknown }> {
  const { status, body } = await sendRequest(`${forge.url}${service}/${method}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ workflow_run_backend_id: runId, ...fields }),
  });
  return { status, ...(JSON.parse(body.toString()) as object) };
}

const put = (url: string, body: string | Buffer = '') => sendRequest(url, { method: 'PUT', body });
const list = (...ids: string[]): string =>
  `<?xml version="1.0"?><BlockList>${ids.map((id) => `<Latest>${id}</Latest>`).join('')}</BlockList>`;

function makeFiles(folder: string): { files: string[]; large: Buffer } {
  mkdirSync(path.join(folder, 'docs/übung'), { recursive: true });
  const large = randomBytes(9 * 1024 * 1024);
  writeFileSync(path.join(folder, 'large.bin'), large);
  writeFileSync(path.join(folder, 'docs/übung/read me.txt'), 'hello '.repeat(20_000));
  writeFileSync(path.join(folder, 'docs/short.txt'), 'x');
  return { files: ['large.bin', 'docs/übung/read me.txt', 'docs/short.txt'], large };
}

const v4 = { version: 'v4', name: 'site build' } as const;
const v3 = { version: 'v3', name: 'site' } as const;

for (const place of ['folder', 'bucket']) {
  t.test(
    `the client of actions/upload-artifact@v4 leaves files and finds them again, and so does a person: in a ${place}`,
    async (t) => {
      const s3 = place === 'bucket' ? await startFakeS3(t) : null;
      const forge = await startForge(t, { env: s3?.env ?? {} });
      await forge.push(workflow);
      const job = await takeJob(forge);
      const folder = temporaryFolder(t);
      const { files, large } = makeFiles(folder);
      const uploaded = await client(forge, job, { ...v4, act: 'upload', folder, files });
      t.match(
        uploaded,
        { id: Number, size: Number, digest: /^[0-9a-f]{64}$/ },
        'in two blocks, their sum and hash compared',
      );
      t.match(await client(forge, job, { ...v4, act: 'upload', folder, files: ['docs/short.txt'] }), {
        error: /already exists/,
      });
      t.match(
        await client(forge, await takeJob(forge), { ...v4, act: 'list' }),
        { artifacts: [{ name: 'site build', size: uploaded.size, digest: `sha256:${uploaded.digest}` }] },
        'another job of the run sees it',
      );

      const back = temporaryFolder(t);
      const { digest } = await client(forge, job, {
        ...v4,
        name: 'docs',
        act: 'upload',
        folder,
        files: files.slice(1),
      });
      t.match(
        await client(forge, job, { ...v4, name: 'docs', act: 'download', folder: back, hash: `sha256:${digest}` }),
        { digestMismatch: false },
      );
      t.equal(readFileSync(path.join(back, 'docs/übung/read me.txt'), 'utf8').length, 120_000);

      const [artifact] = await forge.modules.ci.artifacts.list(forge.found, 1);
      const page = `${forge.url}/repos/alice/work/runs/1/artifacts/${artifact!.id}`;
      const signedIn = { Cookie: `hearth_session=${forge.alice.session}` };
      t.equal((await sendRequest(page)).status, 404, 'a private repository’s artifact is not there for others');
      const zip = await sendRequest(page, { headers: signedIn });
      t.match(zip, {
        status: 200,
        headers: { 'content-type': 'application/zip', 'content-disposition': /filename="site build\.zip"/ },
      });
      t.equal(createHash('sha256').update(zip.body).digest('hex'), uploaded.digest);
      t.ok(readZip(zip.body).get('large.bin')!.equals(large));
      t.match(
        (await sendRequest(`${forge.url}/repos/alice/work/runs/1`, { headers: signedIn })).body.toString(),
        /site build[^]*9\.\d MB[^]*in 4 days[^]*SHA-256/,
      );

      t.match(await client(forge, job, { ...v4, act: 'delete' }), { id: artifact!.id });
      t.equal((await sendRequest(page, { headers: signedIn })).status, 404);
      t.same(
        s3 === null ? readdirSync(path.join(forge.folder, 'data/ci/artifacts/0')) : keysOf(s3, 'artifacts/0/'),
        [`${artifact!.id + 1}.zip`],
        'and its file is gone',
      );
      t.match(
        await client(forge, job, { ...v4, act: 'upload', folder, files: ['docs/short.txt'] }),
        { id: artifact!.id + 2 },
        'its name is free again',
      );
    },
  );

  t.test(
    `the client of actions/upload-artifact@v3 sends files one by one, in chunks, packed and plain: in a ${place}`,
    async (t) => {
      const s3 = place === 'bucket' ? await startFakeS3(t) : null;
      const forge = await startForge(t, { env: s3?.env ?? {} });
      await forge.push(workflow);
      const job = await takeJob(forge);
      const folder = temporaryFolder(t);
      const { files, large } = makeFiles(folder);
      t.match(await client(forge, job, { ...v3, act: 'upload', folder, files }), {
        artifactName: 'site',
        failedItems: [],
      });
      const other = await takeJob(forge);
      writeFileSync(path.join(folder, 'more.txt'), 'more');
      t.match(
        await client(forge, other, { ...v3, act: 'upload', folder, files: ['more.txt'] }),
        { failedItems: [] },
        'a second job adds to it',
      );
      const back = temporaryFolder(t);
      t.match(await client(forge, other, { ...v3, act: 'download', folder: back }), { artifactName: 'site' });
      t.ok(readFileSync(path.join(back, 'large.bin')).equals(large));
      t.equal(readFileSync(path.join(back, 'docs/übung/read me.txt'), 'utf8').length, 120_000);
      t.equal(readFileSync(path.join(back, 'more.txt'), 'utf8'), 'more');

      const unpacked = temporaryFolder(t);
      await client(forge, job, { ...v3, name: 'docs', act: 'upload', folder, files: files.slice(1) });
      t.match(
        await client(forge, job, { ...v4, name: 'docs', act: 'download', folder: unpacked }),
        { digestMismatch: false },
        'the newer client gets the same as a zip',
      );
      t.equal(readFileSync(path.join(unpacked, 'docs/übung/read me.txt'), 'utf8').length, 120_000);
      const [artifact] = await forge.modules.ci.artifacts.list(forge.found, 1);
      const { body } = await sendRequest(`${forge.url}/repos/alice/work/runs/1/artifacts/${artifact!.id}`, {
        headers: { Cookie: `hearth_session=${forge.alice.session}` },
      });
      const zip = readZip(body);
      t.same(
        [...zip.keys()].sort(),
        ['docs/short.txt', 'docs/übung/read me.txt', 'large.bin', 'more.txt'],
        'by its directory, as desktops read it',
      );
      t.ok(zip.get('large.bin')!.equals(large));
      if (s3 === null) return;
      t.equal(keysOf(s3, `artifacts/0/${artifact!.id}/`).length, 4, 'each file is an object');
      t.strictSame(readdirSync(path.join(forge.folder, 'data/ci/artifacts/0', String(artifact!.id))), []);
      await forge.modules.ci.artifacts.remove(forge.viewer, forge.found, 1, artifact!.id);
      t.strictSame(keysOf(s3, `artifacts/0/${artifact!.id}/`), []);
    },
  );
}

t.test('hostile jobs: names, other runs, links, sizes, blocks that are missing', async (t) => {
  const forge = await startForge(t, {
    env: { SERVICE_CI_MAX_ARTIFACT_SIZE: '64KiB', SERVICE_CI_MAX_RUN_ARTIFACT_SIZE: '100KiB' },
  });
  await forge.push(workflow);
  const job = await takeJob(forge);
  for (const name of [
    '',
    '.',
    '..',
    '../x',
    'a/b',
    'a\\b',
    'a\0b',
    'a\nb',
    'x'.repeat(256),
    7,
    null,
    ['a'],
    '"',
    '<a>',
  ]) {
    t.match(
      await call(forge, job, 'CreateArtifact', { name, version: 4 }),
      { status: 400, code: 'invalid_argument' },
      JSON.stringify(name),
    );
  }
  t.match(
    await call(forge, { ...job, runId: '999' }, 'CreateArtifact', { name: 'a' }),
    { status: 404, code: 'not_found' },
    'another run',
  );
  t.match(await call(forge, { ...job, token: 'x.y.z' }, 'CreateArtifact', { name: 'a' }), {
    status: 401,
    code: 'unauthenticated',
  });
  const forged = job.token.replace(
    /\.[^.]+\./,
    `.${Buffer.from(JSON.stringify({ TaskID: 1, RunID: 1, JobID: 1, exp: 9e9 })).toString('base64url')}.`,
  );
  t.match(await call(forge, { ...job, token: forged }, 'CreateArtifact', { name: 'a' }), { status: 401 });
  t.match(await call(forge, job, 'constructor', {}), { status: 404 });
  const listed = await sendRequest(`${forge.url}${service}/ListArtifacts`, {
    method: 'POST',
    headers: { Authorization: `token ${job.token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ workflow_run_backend_id: job.runId }),
  });
  t.equal(listed.status, 200, 'the other spelling of Bearer');
  t.match(
    await sendRequest(`${forge.url}${service}/ListArtifacts`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${job.token}`, 'Content-Type': 'application/json' },
      body: '[',
    }),
    { status: 400 },
  );

  const url = String((await call(forge, job, 'CreateArtifact', { name: 'a', version: 4 })).signed_upload_url);
  t.ok(url.startsWith(`${forge.url}${service}/UploadArtifact?`));
  const changed = (name: string, value: string): string => {
    const other = new URL(url);
    other.searchParams.set(name, value);
    return other.href;
  };
  for (const [name, value] of [
    ['sig', 'x'],
    ['expires', '9999999999999'],
    ['artifact', '2'],
    ['task', '2'],
    ['repository', 'r'],
  ] as const) {
    t.match(await put(changed(name, value), 'x'), { status: 403 }, `another ${name}`);
  }
  t.equal(
    (await sendRequest(url.replace('UploadArtifact', 'DownloadArtifact'))).status,
    403,
    'a link to send opens nothing to read',
  );
  t.equal((await put(`${url}&comp=lease`, 'x')).status, 400);
  t.equal((await put(`${url}&comp=blocklist`, list('YQ=='))).status, 409, 'a block that never came');
  t.match(await call(forge, job, 'FinalizeArtifact', { name: 'a', size: '0' }), {
    status: 412,
    msg: /No data was uploaded/,
  });

  t.equal((await put(`${url}&comp=block&blockid=Yg%3D%3D`, 'world')).status, 201);
  t.equal((await put(`${url}&comp=block&blockid=..%2F..%2Fx`, 'hello ')).status, 201, 'the id of a block is no path');
  t.equal((await put(`${url}&comp=block&blockid=Yg%3D%3D`, 'there')).status, 201, 'a block again');
  t.equal((await put(`${url}&comp=block&blockid=c`, Buffer.alloc(65 * 1024))).status, 413);
  t.equal((await put(`${url}&comp=blocklist`, list('../../x', 'c', 'Yg=='))).status, 201, 'what did not fit is empty');
  t.match(await call(forge, job, 'FinalizeArtifact', { name: 'a', size: '12' }), {
    status: 400,
    msg: /11 bytes were uploaded/,
  });
  t.match(await call(forge, job, 'FinalizeArtifact', { name: 'a', size: '11', hash: `sha256:${'0'.repeat(64)}` }), {
    status: 400,
    msg: /SHA-256/,
  });
  const done = await call(forge, job, 'FinalizeArtifact', {
    name: 'a',
    size: '11',
    hash: `sha256:${createHash('sha256').update('hello there').digest('hex')}`,
  });
  t.match(done, { status: 200, ok: true, artifact_id: '1' });
  t.same(await call(forge, job, 'FinalizeArtifact', { name: 'a', size: '11' }), done, 'again is the same');
  t.equal((await put(`${url}&comp=block&blockid=d`, 'x')).status, 404, 'nothing is added to what is finished');

  const second = String((await call(forge, job, 'CreateArtifact', { name: 'b' })).signed_upload_url);
  t.equal((await put(second, Buffer.alloc(60 * 1024))).status, 201);
  const third = String((await call(forge, job, 'CreateArtifact', { name: 'c' })).signed_upload_url);
  t.match(
    (await put(third, Buffer.alloc(60 * 1024))).body.toString(),
    /<Code>run_too_large</,
    'all artifacts of the run together, unfinished ones included',
  );

  const signed = String((await call(forge, job, 'GetSignedArtifactURL', { name: 'a' })).signed_url);
  const key = new InstanceKey(path.join(temporaryFolder(t), 'secret.key'), systemRandom, 'ci');
  const link = { method: 'GET', repositoryId: 'r', artifactId: 1, taskId: 2, expiresAt: 10_000 } as const;
  const query = signUrl(key, link);
  t.strictSame(verifyUrl(key, 'GET', query, 9_999), link);
  for (const late of [10_000, 10_001, 1e15])
    t.throws(
      () => verifyUrl(key, 'GET', query, late),
      { reason: 'bad_artifact_link' } as unknown as Error,
      `at ${late}`,
    );
  t.match(await sendRequest(signed), { status: 200, body: Buffer.from('hello there') });
  t.equal((await sendRequest(signed.replace(/expires=\d+/, `expires=${Date.now() - 1}`))).status, 403);
  await job.end();
  t.match(await call(forge, job, 'ListArtifacts', {}), { status: 401 }, 'the token dies with its task');
  t.equal((await put(second, 'x')).status, 401, 'and so do its links to send');
});

t.test('hostile jobs: the older protocol', async (t) => {
  const forge = await startForge(t, { env: { SERVICE_CI_MAX_ARTIFACT_SIZE: '64KiB' } });
  await forge.push(workflow);
  const job = await takeJob(forge);
  const base = `${forge.url}/api/actions_pipeline/_apis/pipelines/workflows`;
  const headers = { Authorization: `Bearer ${job.token}`, 'Content-Type': 'application/json' };
  const send = (url: string, chunk: string | Buffer, range: string, more: Record<string, string> = {}) =>
    sendRequest(url, { method: 'PUT', headers: { ...headers, 'Content-Range': range, ...more }, body: chunk });
  t.equal((await sendRequest(`${base}/999/artifacts`, { headers })).status, 404, 'another run');
  t.equal((await sendRequest(`${base}/${job.runId}/artifacts`)).status, 401);
  const made = await sendRequest(`${base}/${job.runId}/artifacts`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ Type: 'actions_storage', Name: 'site' }),
  });
  t.equal(made.status, 201);
  const { fileContainerResourceUrl: url } = JSON.parse(made.body.toString()) as { fileContainerResourceUrl: string };
  for (const item of [
    '',
    'site',
    'site/',
    'site/../x',
    'other/x',
    '/etc/passwd',
    'site//x',
    'site\\..\\x',
    'site/a\0b',
  ]) {
    t.equal((await send(`${url}?itemPath=${encodeURIComponent(item)}`, 'x', 'bytes 0-0/1')).status, 400, item);
  }
  const file = `${url}?itemPath=${encodeURIComponent('site\\deep\\a.txt')}`;
  for (const range of ['', 'bytes 3-5/6', 'bytes 5-3/6', 'bytes 0-6/6', 'bytes 0-2/99999999999999999999', 'bytes */6'])
    t.equal((await send(file, 'abc', range)).status, 400, range);
  t.equal((await send(file, 'abc', 'bytes 0-2/6')).status, 200);
  t.equal((await send(file, 'f', 'bytes 5-5/6')).status, 400, 'a gap');
  t.equal(
    (
      await sendRequest(`${base}/${job.runId}/artifacts?artifactName=site`, {
        method: 'PATCH',
        headers,
        body: '{"Size":6}',
      })
    ).status,
    400,
    'not complete',
  );
  t.equal((await send(file, 'def', 'bytes 3-5/6')).status, 200);
  t.equal((await send(file, 'def', 'bytes 3-5/6')).status, 200, 'a chunk again');
  t.equal(
    (
      await send(`${url}?itemPath=site/b`, 'abc', 'bytes 0-2/3', {
        'Content-Encoding': 'gzip',
        'x-tfs-filelength': '70000',
      })
    ).status,
    403,
    'counted as it is when it is unpacked',
  );
  t.equal((await send(`${url}?itemPath=site/b`, 'abc', 'bytes 0-70000/70001')).status, 403);
  t.equal(
    (
      await sendRequest(`${base}/${job.runId}/artifacts?artifactName=site`, {
        method: 'PATCH',
        headers,
        body: '{"Size":6}',
      })
    ).status,
    200,
  );
  const items = JSON.parse((await sendRequest(`${url}?itemPath=site`, { headers })).body.toString()) as {
    value: { path: string; contentLocation: string }[];
  };
  t.match(items.value, [{ path: 'site/deep/a.txt' }]);
  t.match(await sendRequest(items.value[0]!.contentLocation, { headers }), {
    status: 200,
    body: Buffer.from('abcdef'),
  });

  const bomb = gzipSync(Buffer.alloc(1_000_000));
  t.equal(
    (
      await send(`${url}?itemPath=site/bomb`, bomb, `bytes 0-${bomb.length - 1}/${bomb.length}`, {
        'Content-Encoding': 'gzip',
        'x-tfs-filelength': '5',
      })
    ).status,
    200,
  );
  const zip = await sendRequest(`${forge.url}/repos/alice/work/runs/1/artifacts/1`, {
    headers: { Cookie: `hearth_session=${forge.alice.session}` },
  }).catch((error: Error) => error);
  t.ok(zip instanceof Error, 'what unpacks to more than was announced ends the download');
  t.equal((await sendRequest(`${forge.url}/healthz`)).status, 200);
});

t.test('a job that reaches the server under another name is served under it; pages are not', async (t) => {
  const forge = await startForge(t, { env: { SERVICE_BASE_URL: 'https://git.example.org' } });
  await forge.push(workflow);
  const { token, runId } = await takeJob(forge);
  const headers = {
    Host: 'hearth.internal:3000',
    Authorization: `Bearer ${token}`,
    'Content-Type': 'application/json',
  };
  const { status, body } = await sendRequest(`${forge.url}${service}/CreateArtifact`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ workflow_run_backend_id: runId, name: 'a' }),
  });
  t.equal(status, 200);
  const { signed_upload_url: url } = JSON.parse(body.toString()) as { signed_upload_url: string };
  t.ok(url.startsWith('http://hearth.internal:3000/twirp/'), url);
  t.equal(
    (
      await sendRequest(url.replace('http://hearth.internal:3000', forge.url), {
        method: 'PUT',
        headers: { Host: 'hearth.internal:3000' },
        body: 'x',
      })
    ).status,
    201,
  );
  t.equal((await sendRequest(`${forge.url}/`, { headers: { Host: 'hearth.internal:3000' } })).status, 421);
});
