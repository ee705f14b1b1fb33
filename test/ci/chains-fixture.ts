// runChains(fixture, {name: chain}) → pushes one workflow per chain, works through all of their jobs, and returns the
// result of each job by name. A chain is one text, jobs separated by ";":
//   build fails; notify < build : always(); deploy < notify; m x3 fails; old continues fails; sub[a; b < a] < build
// `fails` and `is cancelled` say how the runner reports a job, `x3` gives it a matrix of three (the second one fails),
// `continues` is continue-on-error, `sub[…]` calls a workflow with these jobs, `: …` is its `if`.
import type { CiFixture } from './ci-fixture.ts';
import { workflow } from './ci-fixture.ts';

export interface ChainJob {
  name: string;
  needs: string[];
  condition: string | null;
  ends: 'success' | 'failure' | 'cancelled';
  combinations: number;
  continues: boolean;
  failFast: boolean;
  /** The jobs of the workflow that it calls; null for a job with steps. */
  called: ChainJob[] | null;
}

export function parseChain(text: string): ChainJob[] {
  return split(text, ';').map((part) => {
    const [head = '', condition = null] = cut(part, ' : ');
    const [title = '', needs = ''] = cut(head, ' < ');
    const [, name = '', inner, rest = ''] = /^\s*([\w-]+)(?:\[([^]*)\])?([^]*)$/.exec(title) ?? [];
    return {
      name,
      needs: needs === '' ? [] : needs.split(',').map((need) => need.trim()),
      condition: condition?.trim() ?? null,
      ends: /\bfails\b/.test(rest) ? 'failure' : /\bis cancelled\b/.test(rest) ? 'cancelled' : 'success',
      combinations: Number(/\bx(\d)/.exec(rest)?.[1] ?? 1),
      continues: /\bcontinues\b/.test(rest),
      failFast: !/\bslow\b/.test(rest),
      called: inner === undefined ? null : parseChain(inner),
    };
  });
}

/** Cuts a text at the first separator outside of brackets. */
function cut(text: string, separator: string): string[] {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '[') depth += 1;
    if (text[at] === ']') depth -= 1;
    if (depth === 0 && text.startsWith(separator, at)) return [text.slice(0, at), text.slice(at + separator.length)];
  }
  return [text];
}

function split(text: string, separator: string): string[] {
  const [first = '', ...rest] = cut(text, separator);
  return rest.length === 0 ? [first] : [first, ...split(rest[0]!, separator)];
}

/** The files of a chain: the first one starts on a push, the others are called. */
function filesOf(name: string, jobs: readonly ChainJob[], on: string): { [file: string]: string } {
  const files: { [file: string]: string } = {};
  const lines = jobs.map((job) => {
    const parts = [
      ...(job.needs.length === 0 ? [] : [`needs: [${job.needs.join(', ')}]`]),
      ...(job.condition === null ? [] : [`if: ${JSON.stringify(job.condition)}`]),
      ...(job.continues ? ['continue-on-error: true'] : []),
      ...(job.combinations === 1
        ? []
        : [
            `strategy: {fail-fast: ${job.failFast}, matrix: {n: [${Array.from({ length: job.combinations }, (_, at) => at + 1).join(', ')}]}}`,
          ]),
    ];
    if (job.called === null) parts.push('runs-on: linux', 'steps: [{run: x}]');
    else {
      const file = `${name}-${job.name}`;
      Object.assign(files, filesOf(file, job.called, 'workflow_call'));
      parts.push(`uses: ./.hearth/workflows/${file}.yml`);
    }
    return `  ${job.name}: {${parts.join(', ')}}`;
  });
  return { [`${name}.yml`]: `on: ${on}\njobs:\n${lines.join('\n')}\n`, ...files };
}

/** How a job of a chain ends, by its key on the server: `sub.b`, `sub#1.b`. */
function endOf(jobs: readonly ChainJob[], key: string, combination: number): ChainJob['ends'] {
  const [first = '', ...rest] = key.split('.');
  const job = jobs.find(({ name }) => name === first.replace(/#\d+$/, ''))!;
  if (job.called !== null) return endOf(job.called, rest.join('.'), combination);
  return job.combinations > 1 && job.ends === 'failure' ? (combination === 2 ? 'failure' : 'success') : job.ends;
}

type Results = { [job: string]: string };

export async function runChains(
  fixture: CiFixture,
  chains: { readonly [name: string]: readonly ChainJob[] },
): Promise<{ [name: string]: Results & { run: string } }> {
  const { ci, db, push, addRunner, found } = fixture;
  const names = Object.keys(chains);
  const before = (await ci.runs.list(found, {}, { limit: 1 })).runs[0]?.number ?? 0;
  const all: { [file: string]: string | null } = {};
  for (const [file] of (await listed(fixture)).entries()) all[file] = null;
  for (const name of names)
    for (const [file, text] of Object.entries(filesOf(name, chains[name]!, 'push')))
      Object.assign(all, workflow(text, file));
  await push(all);
  written.set(fixture, new Set(Object.keys(all).filter((file) => all[file] !== null)));
  const runner = await addRunner(['linux']);
  for (let task = await runner.fetch(); task !== null; task = await runner.fetch()) {
    const [row] = await db.read.query(
      'SELECT j.job_key, j.position, r.workflow_path FROM ci_jobs j JOIN ci_runs r ON r.id = j.run_id WHERE j.task_id = ?',
      [task.taskId],
    );
    const chain = chains[String(row.workflow_path).replace(/\.yml$/, '')]!;
    const combination = (Number(row.position) % 1000) + 1;
    await runner.finish(task.taskId, endOf(chain, row.job_key, combination));
  }
  const results: { [name: string]: Results & { run: string } } = {};
  for (let at = 1; at <= names.length; at += 1) {
    const { run, jobs } = await ci.runs.find(found, before + at);
    const byKey = Map.groupBy(jobs, ({ jobKey }) => jobKey);
    results[run.workflowPath.replace(/\.yml$/, '')] = {
      run: run.status,
      ...Object.fromEntries([...byKey].map(([key, rows]) => [key, rows.map(({ status }) => status).join(' ')])),
    };
  }
  return results;
}

const written = new WeakMap<CiFixture, Set<string>>();
const listed = async (fixture: CiFixture): Promise<Set<string>> => written.get(fixture) ?? new Set();
