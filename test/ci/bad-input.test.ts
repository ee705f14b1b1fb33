// Workflows that no forge could run: each is one failed run that says why, and the next push is a run again.
import t from 'tap';
import { openCi, workflow } from './ci-fixture.ts';

t.setTimeout(240_000);

const job = 'runs-on: linux, steps: [{run: x}]';
const calls = (other: string) => `on: [push, workflow_call]\njobs: {again: {uses: ./.hearth/workflows/${other}}}\n`;
const quiet = `on: workflow_dispatch\njobs: {a: {${job}}}\n`;
const matrix = (count: number) => `{n: [${Array.from({ length: count }, (_, at) => at).join(', ')}]}`;

const cases: [what: string, files: Record<string, string>, reason: RegExp][] = [
  ['a file of 1 MiB', workflow(`on: push\n# ${'x'.repeat(1024 * 1024)}\njobs: {a: {${job}}}\n`), /128 KiB/],
  [
    '10,000 jobs in matrices',
    workflow(
      `on: push\njobs:\n${Array.from({ length: 50 }, (_, at) => `  j${at}: {strategy: {matrix: ${matrix(200)}}, ${job}}\n`).join('')}`,
    ),
    /at most 4096 jobs together/,
  ],
  ['a cycle of needs', workflow(`on: push\njobs: {a: {needs: b, ${job}}, b: {needs: a, ${job}}}\n`), /a → b → a/],
  ['a file that calls itself', workflow(calls('ci.yml')), /at most \d+ deep/],
  [
    'two files that call each other',
    { ...workflow(calls('other.yml')), ...workflow(calls('ci.yml').replace('push, ', ''), 'other.yml') },
    /at most \d+ deep/,
  ],
  [
    'needs of a call that needs its caller',
    {
      ...workflow(`on: push\njobs:\n  a: {needs: b, uses: ./.hearth/workflows/other.yml}\n  b: {needs: a, ${job}}\n`),
      ...workflow(`on: workflow_call\njobs: {c: {${job}}}\n`, 'other.yml'),
    },
    /a → b → a/,
  ],
];

t.test('each is a failed run with its reason, and stops no later one', async (t) => {
  const { push, ci, found, state } = await openCi(t);
  const newest = async () => (await ci.runs.list(found, {}, { limit: 1 })).runs[0]!;
  for (const [what, files, reason] of cases) {
    await push({ ...workflow(quiet, 'other.yml'), ...files });
    const { status, reason: said, number } = await newest();
    t.match([status, said], ['failure', reason], what);
    t.equal(Object.keys((await state(number)).jobs).length, 0, `${what}: no job`);
  }
  await push(workflow(`on: push\njobs: {a: {${job}}}\n`));
  t.match(await newest(), { status: 'waiting', number: cases.length + 1 });
});
