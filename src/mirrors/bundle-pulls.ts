import type { ExportedFile, Issues } from '../issues/index.ts';
import type { CheckedExport, ImportSource, PullImporter } from '../issues/index.ts';
import type { Pulls } from '../pulls/index.ts';

/** Namespace of a bundle's `refs/hearth/` refs after reading. */
const readFolder = 'refs/parcel';

export type BundlePulls = Pick<Pulls, 'portable'>;
export type PlannedPulls = Awaited<ReturnType<Pulls['portable']['plan']>>;

/** Issues and pull requests as files of a bundle. */
export async function* logFiles(
  { issues, pulls }: { issues: Pick<Issues, 'exportIssues'>; pulls: BundlePulls },
  repositoryId: string,
  plan: PlannedPulls,
): AsyncGenerator<ExportedFile> {
  yield* issues.exportIssues(repositoryId, { pulls: plan.numbers });
  yield* pulls.portable.files(repositoryId, plan);
}

/** Issues and pull requests of a bundle, all read at once. */
export interface CheckedLogs {
  logs: CheckedExport;
  /** The number of pull requests. */
  pulls: number;
  /** Throws `pull_exists`; called before anything is written. */
  refuseTaken(repositoryId: string): Promise<void>;
  /** For a repository that already has the objects of the bundle. */
  importer(path: string): Promise<PullImporter>;
}

/** Null for a bundle without issues. Throws `parcel_unreadable`. */
export async function checkLogs(
  { issues, pulls }: { issues: Pick<Issues, 'checkExport'>; pulls: BundlePulls },
  source: ImportSource,
  bundle: { path: string; refs: ReadonlyMap<string, string> },
): Promise<CheckedLogs | null> {
  const logs = await issues.checkExport(source);
  if (logs === null) return null;
  const checked = await pulls.portable.check(source, logs, { ...bundle, folder: readFolder });
  return {
    logs,
    pulls: checked.count,
    refuseTaken: (repositoryId) => pulls.portable.refuseTakenBranches(repositoryId, checked, logs.pulls),
    importer: (path) => pulls.portable.importer(path, checked),
  };
}
