// startForge(t, {env?}) → a whole Hearth with alice/work, files pushed over HTTP by the stock git, and registered
// runners.
// post(url, path, {…}) → one bare Connect call, for what no client library sends.
import { mkdirSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import path from 'node:path';
import type { PersonViewer } from '../../src/access/index.ts';
import { runGit } from '../fixtures/git-repositories.ts';
import { startHearth } from '../fixtures/start-hearth.ts';
import type { StartOptions } from '../fixtures/start-hearth.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { connectClient, grpcClient } from './runner-client.ts';
import type { RunnerResponse, RunnerClient } from './runner-client.ts';

export async function startForge(t: Owner, options: StartOptions = {}) {
  const hearth = await startHearth(t, options);
  const { modules, url } = hearth;
  const alice = await hearth.addPerson('alice');
  const viewer: PersonViewer = {
    kind: 'person',
    id: alice.id,
    username: 'alice',
    isAdministrator: false,
    via: 'session',
    scope: 'admin',
    repositoryIds: null,
  };
  await modules.repositories.create(viewer, { name: 'work', visibility: 'PRIVATE' });
  const found = await modules.repositories.find(viewer, 'alice', 'work');
  const work = path.join(hearth.folder, 'work');
  mkdirSync(work);
  await runGit(['init', '--quiet', '-b', 'main'], { cwd: work });
  const remote = `http://alice:${alice.token}@${new URL(url).host}/git/alice/work.git`;

  /** A real push by the stock client; resolves when git has ended. */
  async function push(files: Record<string, string>, message = 'Change'): Promise<string> {
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(path.dirname(path.join(work, name)), { recursive: true });
      writeFileSync(path.join(work, name), content);
    }
    await runGit(['add', '--all'], { cwd: work });
    await runGit(['commit', '--quiet', '--allow-empty', '-m', message], { cwd: work });
    await runGit(['push', '--quiet', remote, 'HEAD:refs/heads/main'], { cwd: work });
    return (await runGit(['rev-parse', 'HEAD'], { cwd: work })).trim();
  }

  /** Registers over Connect. Returns the headers of every further call. */
  async function register(labels: string[], more: object = {}): Promise<Record<string, string>> {
    const token = await modules.ci.runners.resetRegistrationToken({ kind: 'instance' }, null);
    const { runner } = await connectClient(url).register({ name: 'builder', token, labels, version: 'test', ...more });
    return { 'x-runner-uuid': runner.uuid, 'x-runner-token': runner.token };
  }

  const state = async (number = 1) => {
    const { run, jobs } = await modules.ci.runs.find(found, number);
    return { run: run.status, jobs: Object.fromEntries(jobs.map((job) => [job.name, job.status])), rows: jobs };
  };

  return { ...hearth, alice, viewer, found, push, register, state };
}

export type Forge = Awaited<ReturnType<typeof startForge>>;

/** Clients for all framings and listeners that runners may use. */
export function framings({
  url,
  grpc,
}: Pick<Forge, 'url' | 'grpc'>): Record<
  string,
  (headers: Record<string, string>) => RunnerClient & { close?(): void }
> {
  const web = new URL(url).host;
  return {
    'Connect, binary, with prefix': (headers) => connectClient(url, { headers, gzip: true }),
    'Connect, binary, without prefix': (headers) => connectClient(url, { headers, prefix: false }),
    'Connect, JSON': (headers) => connectClient(url, { headers, json: true }),
    'gRPC on its own port': (headers) => grpcClient(grpc, { headers }),
    'gRPC on its own port, with prefix': (headers) => grpcClient(grpc, { headers, prefix: true }),
    'gRPC on the web port': (headers) => grpcClient(web, { headers }),
  };
}

/** Rows of a log as messages. */
export const rowsOf = (...lines: string[]) =>
  lines.map((content, at) => ({ time: { seconds: BigInt(1_767_225_600 + at), nanos: 5 }, content }));

interface Posted {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** The response as JSON; an empty object when it is none. */
  json: RunnerResponse;
}

/** One HTTP request, as it is. */
export function post(
  url: string,
  target: string,
  {
    body = '',
    headers = {},
    method = 'POST',
  }: { body?: string | Buffer | readonly Buffer[]; headers?: Record<string, string>; method?: string } = {},
): Promise<Posted> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      new URL(target, url),
      { method, headers: { 'Content-Type': 'application/proto', ...headers }, agent: false },
      (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('error', reject);
        response.on('end', () => {
          const all = Buffer.concat(parts);
          let json: RunnerResponse = {};
          try {
            json = JSON.parse(all.toString());
          } catch {
            // A binary response.
          }
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: all, json });
        });
      },
    );
    request.on('error', reject);
    for (const part of Array.isArray(body) ? body : [body as string | Buffer]) if (part.length > 0) request.write(part);
    request.end();
  });
}

/** A workflow with a matrix, needs and outputs. */
export const matrixWorkflow = {
  '.hearth/workflows/ci.yml': `name: CI
on: push
jobs:
  build:
    runs-on: linux
    strategy: {matrix: {version: ["3.10", 18]}}
    outputs: {file: "\${{ steps.x.outputs.file }}"}
    steps:
      - run: echo \${{ matrix.version }}
      - {name: Pack, run: tar c}
  deploy:
    needs: build
    runs-on: linux
    steps: [{run: echo}]
`,
};
