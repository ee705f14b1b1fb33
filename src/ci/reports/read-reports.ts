import type { Found } from '../../repositories/index.ts';
import type { TaskLimits } from '../../workers/index.ts';
import { filesIn, openFileIn } from '../artifacts/browse-artifact.ts';
import type { ArtifactFile } from '../artifacts/browse-artifact.ts';
import { artifactsOfTask } from '../artifacts/list-artifacts.ts';
import type { CiDeps } from '../deps.ts';
import { isDomainError } from '../../kernel/index.ts';
import { findRunRow } from '../runs/find-run.ts';
import type { ArtifactRow } from '../schema/artifact-schema.ts';
import type { RunRow } from '../schema/run-schema.ts';
import type { run as runJunit } from './junit-task.ts';
import type { TestReport } from './test-report.ts';

/** The report of one file of an artifact. */
interface RunReport {
  artifact: Pick<ArtifactRow, 'id' | 'name' | 'runId' | 'attempt'>;
  path: string;
  report: TestReport;
}

interface RunReports {
  run: RunRow;
  reports: RunReport[];
  /** Possible reports that were not read, with the reason as shown to users. */
  unread: { artifact: string; path: string; reason: string }[];
}

const maxFiles = 200;
const maxFileBytes = 8 * 1024 * 1024;
const maxBytes = 64 * 1024 * 1024;

const limits: TaskLimits = {
  // A megabyte takes about 20 ms.
  deadlineMs: 3_000,
  maxWaitMs: 10_000,
  maxInputBytes: 2 * maxFileBytes + 1024,
  maxResultBytes: 16 * 1024 * 1024,
};

/**
 * Finds JUnit XML test reports among the artifacts of a run: checks every `.xml` file in the newest artifact of each
 * name. Results are cached by the content of the artifact. Throws `run_not_found`.
 */
export async function testReports(deps: CiDeps, found: Pick<Found, 'repository'>, number: number): Promise<RunReports> {
  const run = await findRunRow(deps, found, number);
  return { run, ...(await reportsIn(deps, await artifactsOfTask(deps, { run }))) };
}

/** The reports in some artifacts of one repository, in their order. */
export async function reportsIn(
  deps: CiDeps,
  artifacts: readonly ArtifactRow[],
): Promise<Pick<RunReports, 'reports' | 'unread'>> {
  const result: Pick<RunReports, 'reports' | 'unread'> = { reports: [], unread: [] };
  let [files, bytes] = [0, 0];
  for (const artifact of artifacts) {
    for (const file of await xmlFiles(deps, artifact, result)) {
      files += 1;
      bytes += file.bytes;
      const skip = (reason: string) => result.unread.push({ artifact: artifact.name, path: file.path, reason });
      if (file.bytes > maxFileBytes) skip('It is larger than 8 MiB.');
      else if (files > maxFiles || bytes > maxBytes) skip('There are too many files.');
      else await readOne(deps, artifact, file, result, skip);
    }
  }
  return result;
}

async function xmlFiles(
  deps: CiDeps,
  artifact: ArtifactRow,
  { unread }: Pick<RunReports, 'unread'>,
): Promise<ArtifactFile[]> {
  try {
    return (await filesIn(deps, artifact)).files.filter(({ path }) => path.toLowerCase().endsWith('.xml'));
  } catch (error) {
    if (!isDomainError(error)) throw error;
    unread.push({ artifact: artifact.name, path: '', reason: error.message });
    return [];
  }
}

async function readOne(
  deps: CiDeps,
  artifact: ArtifactRow,
  { path, bytes }: ArtifactFile,
  result: Pick<RunReports, 'reports'>,
  skip: (reason: string) => void,
): Promise<void> {
  try {
    const outcome = await deps.workers.run<typeof runJunit>({
      task: 'junit',
      key: `${artifact.digest ?? `${artifact.file} ${artifact.sizeBytes} ${artifact.createdAt}`} ${path}`,
      input: async () => textOf(await openFileIn(deps, artifact, path), bytes),
      client: artifact.repositoryId,
      limits,
    });
    if (!outcome.ok) skip(outcome.reason === 'busy' ? 'The server is busy.' : 'It takes too long to read.');
    else if (outcome.value !== null) result.reports.push({ artifact, path, report: outcome.value });
  } catch (error) {
    if (!isDomainError(error)) throw error;
    skip(error.message);
  }
}

async function textOf({ content }: { content: AsyncIterable<unknown> }, bytes: number): Promise<string> {
  const parts: Buffer[] = [];
  let seen = 0;
  for await (const part of content) {
    seen += (part as Buffer).length;
    // A compressed file of the older protocol may be longer than its client declared.
    if (seen > bytes) break;
    parts.push(part as Buffer);
  }
  return Buffer.concat(parts).toString('utf8');
}
