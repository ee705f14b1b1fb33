import { isDomainError } from '../../kernel/index.ts';
import { workflowFolders } from '../../ci/index.ts';
import type { PullApproval } from '../../ci/index.ts';
import type { PatchLimits } from '../../git/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import type { WebDeps } from '../../web/index.ts';
import { viewCount } from '../app/format-numbers.ts';
import { viewName } from '../app/printable-names.ts';
import type { RepositoryContext } from '../app/request-context.ts';
import { readTabClasses } from '../code/read-editor-configs.ts';
import { fileParameter, viewChangedFile } from '../code/changed-file.view.ts';
import type { ChangedFileView } from '../code/changed-file.view.ts';
import type { CodeDeps } from '../code/deps.ts';

/** Runs of a pull request that wait for approval: shown on its page, and on the page of each run. */
interface ApprovalView {
  /** URL of the pull request. */
  pullUrl: string;
  number: number;
  /** Id of the head commit that they test. */
  head: string;
  workflows: { name: string; url: string }[];
  mayApprove: boolean;
  /** Its changes to workflows; null for a viewer without the button, and when they could not be read. */
  changes: { files: ChangedFileView[]; summary: string; more: number } | null;
}

const limits: PatchLimits = { files: 50, linesPerFile: 1_000, bytesPerLine: 5_100, bytes: 256 * 1024 };

/** The runs of a pull request that wait for approval; null for none. */
export async function readApproval(
  context: RepositoryContext,
  deps: Pick<WebDeps, 'ci'> & CodeDeps,
  number: number,
): Promise<ApprovalView | null> {
  const { viewer, found } = context;
  const approval = await deps.ci.pulls.approvalOf(viewer, found, number);
  if (approval === null) return null;
  const repository = repositoryUrl(found.canonical);
  return {
    pullUrl: `${repository}/pulls/${number}`,
    number,
    head: approval.headOid,
    workflows: approval.runs.map((run) => ({
      name: viewName(run.workflowName),
      url: `${repository}/runs/${run.number}`,
    })),
    mayApprove: approval.mayApprove,
    changes: approval.mayApprove ? await readChangesOfWorkflows(context, deps, approval).catch(nullIfBusy) : null,
  };
}

/** Approval requires seeing the changes: without them the page has no button. */
function nullIfBusy(error: unknown): null {
  if (isDomainError(error) && error.code === 'unavailable') return null;
  throw error;
}

async function readChangesOfWorkflows(
  { found }: RepositoryContext,
  deps: CodeDeps,
  { merge, number }: PullApproval,
): Promise<NonNullable<ApprovalView['changes']>> {
  const { git } = deps;
  const only = workflowFolders.map((folder) => Buffer.from(folder));
  const { files } = await git.queries.listDiff(found.path, { ...merge, only });
  const shown = files.slice(0, limits.files);
  const { patches } =
    shown.length === 0 ? { patches: [] } : await git.queries.readPatches(found.path, { ...merge, only }, shown, limits);
  const byFile = new Map(patches.map((patch) => [patch.file.newPath.toString('latin1'), patch]));
  const repository = repositoryUrl(found.canonical);
  const around = {
    repositoryUrl: repository,
    ...merge,
    layout: 'unified' as const,
    tabsOf: await readTabClasses(
      { found },
      deps,
      merge.to,
      shown.map(({ newPath }) => newPath.toString()),
    ),
    loadUrl: ({ newPath }: { newPath: Buffer }) =>
      `${repository}/pulls/${number}/changes?file=${fileParameter(newPath)}`,
    coloursOf: () => undefined,
    marksOf: () => undefined,
    sizeOf: () => null,
  };
  return {
    files: shown.map((file, index) =>
      viewChangedFile(file, byFile.get(file.newPath.toString('latin1')), index, around),
    ),
    summary: viewCount(files.length, 'file'),
    more: files.length - shown.length,
  };
}
