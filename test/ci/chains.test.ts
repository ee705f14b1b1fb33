// The results of chains of `needs` and `if`, by GitHub's "Workflow syntax" (jobs.<job_id>.needs, jobs.<job_id>.if,
// jobs.<job_id>.continue-on-error, strategy.fail-fast) and "Evaluate expressions" (status check functions). The full
// number of random chains: HEARTH_CHAINS=2000.
import t from 'tap';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { parseChain, runChains } from './chains-fixture.ts';
import type { ChainJob } from './chains-fixture.ts';
import { openCi } from './ci-fixture.ts';

const ok = 'success';
const no = 'failure';
const out = 'skipped';

const table: [chain: string, results: { [job: string]: string }][] = [
  // A failure or a skip holds for the whole chain behind it.
  ['a; b < a', { a: ok, b: ok }],
  ['a fails; b < a', { a: no, b: out }],
  ['a fails; b < a; c < b; d < c', { a: no, b: out, c: out, d: out }],
  ['a fails; b', { a: no, b: ok }],
  ['a : false; b < a', { a: out, b: out }],
  ['a : false; b < a; c < b', { a: out, b: out, c: out }],
  ['a is cancelled; b < a', { a: 'cancelled', b: out }],
  ['a is cancelled; b < a : failure()', { a: 'cancelled', b: out }],
  ['a is cancelled; b < a : always()', { a: 'cancelled', b: ok }],
  ['a is cancelled; b < a : always(); c < b', { a: 'cancelled', b: ok, c: out }],
  // A job that goes on does not mend the chain.
  ['a fails; b < a : always(); c < b', { a: no, b: ok, c: out }],
  ['a fails; b < a : always(); c < b : success()', { a: no, b: ok, c: out }],
  ['a fails; b < a : always(); c < b : success() && failure()', { a: no, b: ok, c: out }],
  ['a fails; b < a : always(); c < b : success() || failure()', { a: no, b: ok, c: ok }],
  ['a fails; b < a : always(); c < b : failure()', { a: no, b: ok, c: ok }],
  ['a fails; b < a : always(); c < b : always()', { a: no, b: ok, c: ok }],
  ['a fails; b < a : always(); c < b; d < c : always()', { a: no, b: ok, c: out, d: ok }],
  ['a fails; b < a : always(); c < b : !cancelled()', { a: no, b: ok, c: ok }],
  ['a fails; b < a : failure(); c < b', { a: no, b: ok, c: out }],
  ['a fails; b < a : !cancelled(); c < b; d < c', { a: no, b: ok, c: out, d: out }],
  ['a : false; b < a : !cancelled(); c < b', { a: out, b: ok, c: out }],
  ['a : false; b < a : always(); c < b', { a: out, b: ok, c: out }],
  ['a : false; b < a : always(); c < b : !failure()', { a: out, b: ok, c: ok }],
  ['a : false; b < a : always(); c < b : !failure() && !cancelled()', { a: out, b: ok, c: ok }],
  ['a : false; b < a : failure()', { a: out, b: out }],
  ['a : false; b < a : !success()', { a: out, b: ok }],
  ['a; b < a : !success()', { a: ok, b: out }],
  ['a fails; b < a : !success()', { a: no, b: ok }],
  ['a fails; b < a : !failure()', { a: no, b: out }],
  // Several needs.
  ['a; b fails; c < a, b', { a: ok, b: no, c: out }],
  ['a; b : false; c < a, b', { a: ok, b: out, c: out }],
  ['a; b : false; c < a, b : always()', { a: ok, b: out, c: ok }],
  ['a; b fails; c < a; d < b; e < c, d : always()', { a: ok, b: no, c: ok, d: out, e: ok }],
  ['a; b fails; c < a; d < b; e < c, d : failure()', { a: ok, b: no, c: ok, d: out, e: ok }],
  ['a; b fails; c < a; d < b; e < c', { a: ok, b: no, c: ok, d: out, e: ok }],
  ['a fails; b < a : always(); c < a : always(); d < b, c', { a: no, b: ok, c: ok, d: out }],
  // A condition without a status function stands beside success(); one in a text or in a branch counts as one.
  ['a fails; b < a : true', { a: no, b: out }],
  ['a; b < a : true', { a: ok, b: ok }],
  ["a fails; b < a : needs.a.result == 'failure'", { a: no, b: out }],
  ["a fails; b < a : always() && needs.a.result == 'failure'", { a: no, b: ok }],
  ["a fails; b < a : always() && needs.a.result == 'success'", { a: no, b: out }],
  ["a : false; b < a : always() && needs.a.result == 'skipped'", { a: out, b: ok }],
  ["a is cancelled; b < a : always() && needs.a.result == 'cancelled'", { a: 'cancelled', b: ok }],
  ['a fails; b < a : false && always()', { a: no, b: out }],
  ['a fails; b < a : true || always()', { a: no, b: ok }],
  ["a fails; b < a : ${{ always() && contains(needs.*.result, 'failure') }}", { a: no, b: ok }],
  ["a fails; b < a : 'always()'", { a: no, b: out }],
  ['a : cancelled()', { a: out }],
  ['a : failure()', { a: out }],
  ['a : success()', { a: ok }],
  ["a : github.event_name == 'push'; b < a : github.event_name == 'schedule'; c < b", { a: ok, b: out, c: out }],
  // continue-on-error: the result counts as a success everywhere behind it.
  ['a continues fails; b < a', { a: no, b: ok }],
  ['a continues fails; b < a : failure()', { a: no, b: out }],
  ['a continues fails; b < a : success()', { a: no, b: ok }],
  ["a continues fails; b < a : always() && needs.a.result == 'success'", { a: no, b: ok }],
  ['a continues fails; b < a; c < b; d < c : failure()', { a: no, b: ok, c: ok, d: out }],
  ['a continues fails; b fails; c < a, b', { a: no, b: no, c: out }],
  ['a continues : false; b < a', { a: out, b: out }],
  // Matrices: one result for all combinations.
  ['m x3; b < m', { m: `${ok} ${ok} ${ok}`, b: ok }],
  ['m x3 fails; b < m', { m: `${ok} ${no} cancelled`, b: out }],
  ['m x3 slow fails; b < m', { m: `${ok} ${no} ${ok}`, b: out }],
  ['m x3 slow fails; b < m : always(); c < b', { m: `${ok} ${no} ${ok}`, b: ok, c: out }],
  ['m x3 slow fails; b < m : failure(); c < b : failure()', { m: `${ok} ${no} ${ok}`, b: ok, c: ok }],
  ['m x3 slow continues fails; b < m', { m: `${ok} ${no} ${ok}`, b: ok }],
  ['m x3 continues fails; b < m', { m: `${ok} ${no} ${ok}`, b: ok }],
  ['m x3 : false; b < m', { m: `${out} ${out} ${out}`, b: out }],
  ['a fails; m x2 < a : always(); b < m', { a: no, m: `${ok} ${ok}`, b: out }],
  // Called workflows: their result is that of their jobs; their jobs are a chain of their own.
  ['s[x; y < x]; b < s', { 's.x': ok, 's.y': ok, b: ok }],
  ['s[x fails; y < x]; b < s', { 's.x': no, 's.y': out, b: out }],
  [
    's[x fails; y < x : always(); z < y]; b < s : failure(); c < b',
    { 's.x': no, 's.y': ok, 's.z': out, b: ok, c: out },
  ],
  ['s[x continues fails; y < x]; b < s', { 's.x': no, 's.y': ok, b: ok }],
  ['a fails; s[x; y < x] < a; b < s', { a: no, 's.x': out, 's.y': out, b: out }],
  ['a fails; s[x; y < x] < a : always(); b < s', { a: no, 's.x': ok, 's.y': ok, b: out }],
  ['a fails; s[x; y : failure()] < a : always(); b < s : failure()', { a: no, 's.x': ok, 's.y': out, b: ok }],
  ['a fails; s[x; y : always()] < a', { a: no, 's.x': out, 's.y': out }],
  ['a : false; s[x] < a : !cancelled(); b < s', { a: out, 's.x': ok, b: out }],
  ['s[x : false; y : false]; b < s', { 's.x': out, 's.y': out, b: out }],
  ['s[x : false; y]; b < s', { 's.x': out, 's.y': ok, b: ok }],
  ['s[t[x fails] ; y < t]; b < s : always(); c < b', { 's.t.x': no, 's.y': out, b: ok, c: out }],
  ['s[x fails] x2; b < s', { 's.x': no, 's#1.x': 'cancelled', b: out }],
  ['s[x] x2; b < s', { 's.x': ok, 's#1.x': ok, b: ok }],
];

t.test(`${table.length} chains have the results that GitHub documents`, async (t) => {
  const fixture = await openCi(t);
  const chains = table.map(([text], at): [string, ChainJob[]] => [`c${at}`, parseChain(text)]);
  // A commit has at most a hundred workflow files.
  const results = Object.assign(
    await runChains(fixture, Object.fromEntries(chains.slice(0, 60))),
    await runChains(fixture, Object.fromEntries(chains.slice(60))),
  );
  for (const [at, [text, wanted]] of table.entries()) {
    const { run: _, ...jobs } = results[`c${at}`]!;
    t.strictSame(jobs, wanted, text);
  }
});

/** The documented rules, written down a second time: results of the jobs of one file. */
function model(jobs: readonly ChainJob[]): Map<string, string> {
  const results = new Map<string, string>();
  const chainOf = (name: string): Set<string> => {
    const needs = jobs.find((job) => job.name === name)!.needs;
    return new Set(needs.flatMap((need) => [need, ...chainOf(need)]));
  };
  for (const job of jobs) {
    const before = [...chainOf(job.name)].map((name) => results.get(name)!);
    const success = before.every((result) => result === 'success');
    const failure = before.some((result) => result === 'failure');
    const direct = job.needs.map((need) => results.get(need));
    const runs = new Map<string | null, boolean>([
      [null, success],
      ['false', false],
      ['true', success],
      ['always()', true],
      ['success()', success],
      ['failure()', failure],
      ['!cancelled()', true],
      ['success() && failure()', false],
      ['success() || failure()', success || failure],
      ['!success() && !failure()', !success && !failure],
      ["always() && contains(needs.*.result, 'skipped')", direct.includes('skipped')],
      ["contains(needs.*.result, 'success')", success && direct.includes('success')],
    ]).get(job.condition)!;
    results.set(job.name, !runs ? 'skipped' : job.continues && job.ends === 'failure' ? 'success' : job.ends);
  }
  return results;
}

const conditions = [
  ...[null, null, null, null, 'false', 'true', 'always()', 'always()', 'success()', 'failure()', '!cancelled()'],
  ...['success() && failure()', 'success() || failure()', '!success() && !failure()'],
  ...["always() && contains(needs.*.result, 'skipped')", "contains(needs.*.result, 'success')"],
];

t.test('random chains have the results of a model of the documented rules', async (t) => {
  const count = Number(process.env['HEARTH_CHAINS'] ?? 60);
  const random = seededRandom(20);
  const fixture = await openCi(t);
  for (let done = 0; done < count; done += 60) {
    const chains: { [name: string]: ChainJob[] } = {};
    for (let at = 0; at < Math.min(60, count - done); at += 1) {
      const names = ['a', 'b', 'c', 'd', 'e', 'f'].slice(0, 3 + random.below(4));
      chains[`r${at}`] = names.map((name, place) => ({
        name,
        needs: names.slice(0, place).filter(() => random.chance(0.35)),
        condition: random.pick(conditions),
        ends: random.pick(['success', 'success', 'failure', 'cancelled'] as const),
        combinations: 1,
        continues: random.chance(0.3),
        failFast: true,
        called: null,
      }));
    }
    const results = await runChains(fixture, chains);
    for (const [name, jobs] of Object.entries(chains)) {
      const seen = results[name]!;
      const wanted = model(jobs);
      for (const job of jobs)
        if (job.continues && job.ends === 'failure' && seen[job.name] === 'failure') seen[job.name] = 'success';
      t.strictSame(
        jobs.map((job) => seen[job.name]),
        [...wanted.values()],
        JSON.stringify(jobs),
      );
    }
  }
});
