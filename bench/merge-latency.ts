// Merges by the API in this build and in an earlier one, one after the other in each round: what it costs that every
// merge compares the recorded head with the branch. Without `--before`, that build is made from the history: the commit
// before the one that began to compare.
// usage: bench/merge-latency [--rounds N] [--style STYLE] [--executable PATH] [--before PATH] [--install]
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { compare, comparisonHead, readNumberOption, readTextOption } from './harness.ts';
import type { Measurement } from './harness.ts';
import { startHearthServer } from './hearth-server.ts';
import type { HearthServer } from './hearth-server.ts';
import { cpuMsOfThreads } from './process-usage.ts';
import { fillRepository } from './sample-history.ts';

const rounds = readNumberOption('rounds', 30);
const style = readTextOption('style') ?? 'merge';
const firstThatCompares = 'pulls: include what was pushed before in every act on a head';

/** The build before, in a clone that is gone at the end. */
function buildBefore(): string {
  const project = fileURLToPath(new URL('..', import.meta.url));
  const git = (...args: string[]): string =>
    execFileSync('git', ['-C', project, ...args])
      .toString()
      .trim();
  const commit = git('log', '-1', '--format=%H', '--fixed-strings', `--grep=${firstThatCompares}`);
  if (commit === '') throw new Error('The history does not go back to the earlier build: give it with --before');
  const clone = mkdtempSync(path.join(tmpdir(), 'hearth-before-'));
  process.once('exit', () => rmSync(clone, { recursive: true, force: true }));
  execFileSync('git', ['clone', '-q', '--no-checkout', project, clone]);
  execFileSync('git', ['-C', clone, 'checkout', '-q', `${commit}~1`]);
  execFileSync(path.join(clone, 'scripts/build-executable'), { cwd: clone, stdio: ['ignore', 'ignore', 'inherit'] });
  return path.join(clone, 'dist/hearth');
}

/** A server with a pull request for each round, of a file of its own, of which it knows whether it merges. */
async function prepare(program?: string): Promise<{ server: HearthServer; merge: Measurement }> {
  const server = await startHearthServer({}, undefined, program);
  process.once('exit', () => server.kill());
  await fillRepository(server.repository);
  const api = async (method: string, at: string, body?: unknown): Promise<Record<string, unknown>> => {
    const response = await fetch(`${server.url}/api/v1/repos/alice/bench/${at}`, {
      method,
      headers: { Authorization: `Bearer ${server.token}`, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${at}: ${response.status} ${text}`);
    return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
  };
  const base = execFileSync('git', ['-C', server.repository, 'symbolic-ref', '--short', 'HEAD']).toString().trim();
  let count = 0;

  async function openPull(): Promise<number> {
    count += 1;
    const content = Buffer.from(`change ${count}\n`).toString('base64');
    const head = `change-${count}`;
    const file = { content, message: `Change ${count}`, branch: base, new_branch: head };
    await api('POST', `contents/change-${count}.txt`, file);
    const { number } = await api('POST', 'pulls', { title: head, head, base });
    for (let tries = 0; (await api('GET', `pulls/${number}`))['mergeable'] !== true; tries += 1) {
      if (tries === 100) throw new Error(`pull request ${number} does not become mergeable`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return number as number;
  }

  return {
    server,
    async merge() {
      const number = await openPull();
      // What follows the opening is over.
      await new Promise((resolve) => setTimeout(resolve, 300));
      const [startedAt, cpu] = [performance.now(), cpuMsOfThreads(server.pid)];
      await api('POST', `pulls/${number}/merge`, { Do: style });
      const wallS = (performance.now() - startedAt) / 1000;
      return { wallS, cpuS: (cpuMsOfThreads(server.pid) - cpu) / 1000 };
    },
  };
}

const now = await prepare();
const before = await prepare(readTextOption('before') ?? buildBefore());
const rows = await compare(`Merge by the API (${style})`, rounds, {
  hearth: now.merge,
  'before heads were compared': before.merge,
});
console.log([...comparisonHead, ...rows].join('\n'));
await now.server.stop();
await before.server.stop();
process.exit(0);
