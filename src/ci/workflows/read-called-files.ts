import { anonymous, personViewer } from '../../access/index.ts';
import { nullIfNotFound } from '../../kernel/index.ts';
import { isWholeId } from '../../git/index.ts';
import type { Git } from '../../git/index.ts';
import type { Found, Repositories } from '../../repositories/index.ts';
import { withOthers } from './bundle.ts';
import type { CalledCommit, ReadCalledFile } from './bundle.ts';
import { baseOf } from './call-address.ts';
import type { CallAddress } from './call-address.ts';
import { readWorkflowFile } from './find-workflows.ts';
import type { WorkflowFile } from './find-workflows.ts';
import type { ParsedWorkflow } from './parse-workflow.ts';
import { sourceOf } from './workflow-reader.ts';
import type { WorkflowReader } from './workflow-reader.ts';

interface Deps {
  git: Git;
  repositories: Pick<Repositories, 'find'>;
  workflows: WorkflowReader;
}

/** A workflow file with the files that it calls. */
export interface RunnableWorkflow extends WorkflowFile {
  parsed: ParsedWorkflow;
}

/**
 * Adds the called files of other repositories to a workflow, with the read access of the user who starts the run.
 * Repositories hidden from that user count as missing, so that runs do not reveal them.
 * @param file a parsed file from `findWorkflows`
 * @param actorId the user who starts the run; null has the permissions of anonymous clients
 * @param client the repository of the run
 */
export async function withCalledFiles(
  deps: Deps,
  { path, folder, content, parsed }: RunnableWorkflow,
  { actorId, client }: { actorId: string | null; client: string },
): Promise<RunnableWorkflow> {
  const complete = parsed.ok ? await withOthers(content, reader(deps, actorId)) : content;
  if (complete === content) return { path, folder, content, parsed };
  return {
    path,
    folder,
    content: complete,
    parsed: await deps.workflows.read(sourceOf({ path, content: complete }, client)),
  };
}

/** Resolves each repository and ref once. */
function reader(deps: Deps, actorId: string | null): ReadCalledFile {
  const places = new Map<string, Promise<{ found: Found; commit: CalledCommit } | null>>();
  return async (address) => {
    const base = baseOf(address);
    if (!places.has(base)) places.set(base, locate(deps, address, actorId));
    const place = await places.get(base)!;
    if (place === null) return null;
    const { found, commit } = place;
    const text = await readWorkflowFile(deps.git, found.path, commit.sha, address.path).catch(nullIfNotFound);
    return text === null ? null : { text, commit };
  };
}

async function locate(
  { git, repositories }: Deps,
  { owner, name, ref }: CallAddress,
  actorId: string | null,
): Promise<{ found: Found; commit: CalledCommit } | null> {
  const viewer = actorId === null ? anonymous : personViewer(actorId, 'read');
  const found = await repositories.find(viewer, owner, name).catch(nullIfNotFound);
  if (found === null) return null;
  const repository = `${found.canonical.owner}/${found.canonical.name}`;
  // A tag takes precedence over a branch of the same name, as on other forges.
  const given = /^(?:refs\/)?(?:heads|tags)\//.test(ref) ? [`refs/${ref.replace(/^refs\//, '')}`] : [];
  // A full name takes precedence over both.
  const firsts = ref.startsWith('refs/') ? given : [];
  // A full commit id always means that commit: a push to the other repository must not be able to replace it.
  const names = isWholeId(ref) ? [ref] : [...firsts, `refs/tags/${ref}`, `refs/heads/${ref}`, ...given];
  for (const full of names) {
    const sha = await git.refs.resolve(found.path, full).catch(nullIfNotFound);
    if (sha !== null) return { found, commit: { repository, ref: full, sha } };
  }
  return null;
}
