import { In } from 'typeorm';
import type { Found } from '../../repositories/index.ts';
import type { CiDeps } from '../deps.ts';
import { findRunRow } from '../runs/find-run.ts';
import { artifactSchema } from '../schema/artifact-schema.ts';
import type { ArtifactRow } from '../schema/artifact-schema.ts';
import { runSchema } from '../schema/run-schema.ts';
import { reportsIn } from './read-reports.ts';

/** Where a test had a result: an attempt of a run. */
interface Occasion {
  run: number;
  attempt: number;
}

/** A test that failed and later passed at the same commit. */
export interface FlakyTest {
  /** Name of the artifact with its report. */
  artifact: string;
  suite: string;
  group: string;
  name: string;
  failed: Occasion;
  /** The same as `failed` if its program tried it again by itself. */
  passed: Occasion;
}

/** Limit of the runs of a commit that are read, the newest. */
const maxRuns = 10;
const maxTests = 1_000;

/**
 * The flaky tests of a run: by the reports of all its attempts, and of other runs of the same workflow for the same
 * commit. Results count as those of one test if their artifacts have the same name, so that a job of a matrix is not
 * compared with another one. Throws `run_not_found`.
 */
export async function flakyTests(deps: CiDeps, found: Pick<Found, 'repository'>, number: number): Promise<FlakyTest[]> {
  const run = await findRunRow(deps, found, number);
  const { repositoryId, workflowPath, sha } = run;
  const others = await deps.db.read.find(runSchema, {
    where: { repositoryId, workflowPath, sha },
    select: { id: true, number: true },
    order: { number: 'DESC' },
    take: maxRuns,
  });
  const numbers = new Map([...others, run].map((one) => [one.id, one.number]));
  const { reports } = await reportsIn(deps, await artifactsOfRuns(deps, [...numbers.keys()]));
  const failed = new Map<string, Occasion>();
  const flaky = new Map<string, FlakyTest>();
  for (const { artifact, report } of reports) {
    const occasion = { run: numbers.get(artifact.runId)!, attempt: artifact.attempt };
    // Failed cases come first: of a test that a report has twice, the failure is read before the success.
    for (const { suite, group, name, result, isFlaky } of report.cases) {
      const key = JSON.stringify([artifact.name, suite, group, name]);
      if (result === 'failed' || result === 'error') failed.set(key, failed.get(key) ?? occasion);
      const before = isFlaky ? occasion : failed.get(key);
      if (result !== 'passed' || before === undefined || flaky.has(key) || flaky.size >= maxTests) continue;
      flaky.set(key, { artifact: artifact.name, suite, group, name, failed: before, passed: occasion });
    }
  }
  return [...flaky.values()].filter(({ failed: one, passed }) => one.run === number || passed.run === number);
}

/** The newest artifact of each name in each attempt, in the order of their upload. */
async function artifactsOfRuns({ db }: Pick<CiDeps, 'db'>, runIds: readonly number[]): Promise<ArtifactRow[]> {
  const rows = await db.read.findBy(artifactSchema, { runId: In([...runIds]), state: 'ready' });
  rows.sort((a, b) => a.id - b.id);
  const newest = new Map(rows.map((row) => [`${row.runId} ${row.attempt} ${row.name}`, row]));
  return [...newest.values()].sort((a, b) => a.id - b.id);
}
