import type { Viewer } from '../../access/index.ts';
import type { CommitFilesRequest, CommittedFile } from '../../git/index.ts';
import { unavailable } from '../../kernel/index.ts';
import type { RepositoryDeps } from '../deps.ts';
import { isDiskLow } from '../disk-space.ts';
import type { Found } from '../find-repository.ts';
import { commitPeople } from './commit-author.ts';
import type { NamedAuthor } from './commit-author.ts';
import { changeMessage } from './commit-message.ts';
import { checkOperations, resolveOperation } from './file-operation.ts';
import type { FileOperation } from './file-operation.ts';

/** A commit of files, before it is known where it goes. */
export interface FileCommit {
  operations: readonly FileOperation[];
  /** A usual subject when left out or empty. */
  message?: string | undefined;
  author?: NamedAuthor | undefined;
  committer?: NamedAuthor | undefined;
  /** Ends the message with a `Signed-off-by:` line of the committer. */
  isSignedOff?: boolean | undefined;
}

/** A commit on a tip. */
export interface PreparedCommit {
  oid: string;
  /** The files as the commit has them: the blob, or null for a removed one. */
  files: { path: string; oid: string | null }[];
}

/**
 * What git is asked for: refuses what `checkOperations`, `resolveOperation`, `changeMessage` and `commitPeople` refuse.
 */
export async function requestOf(
  deps: RepositoryDeps,
  viewer: Viewer,
  { path }: Pick<Found, 'path'>,
  tip: string | null,
  { operations, message, isSignedOff = false, ...people }: FileCommit,
): Promise<CommitFilesRequest> {
  checkOperations(operations, deps.settings.maxChangeBytes);
  const text = changeMessage(message, operations);
  const named = await commitPeople(deps, viewer, people);
  const files: CommittedFile[] = [];
  for (const operation of operations) files.push(...(await resolveOperation(deps, path, tip, operation)));
  const { name, email } = named.committer;
  const signOff = isSignedOff ? `\n\nSigned-off-by: ${name} <${email}>` : '';
  return { onto: tip, files, message: text + signOff, ...named };
}

/**
 * Makes a commit of files on a tip and stores it, without moving a branch. Refuses what `requestOf` refuses,
 * `nothing_changed`, `file_in_the_way`, `invalid_git_file`, `disk_low`, `git_busy`. Rights are the caller's to decide.
 */
export async function prepareCommit(
  deps: RepositoryDeps,
  viewer: Viewer,
  found: Pick<Found, 'path'>,
  tip: string | null,
  commit: FileCommit,
): Promise<PreparedCommit> {
  if (await isDiskLow(found.path, deps.settings.lowDiskFloorBytes))
    throw unavailable('disk_low', 'The server is low on disk space; reading still works.', { retryAfterSeconds: 600 });
  const request = await requestOf(deps, viewer, found, tip, commit);
  const { oid, blobs } = await deps.git.merges.commitFiles(found.path, request);
  return { oid, files: request.files.map((file, at) => ({ path: file.path.toString(), oid: blobs[at] ?? null })) };
}
