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

/** A commit of files whose destination is not decided yet. */
export interface FileCommit {
  operations: readonly FileOperation[];
  /** Defaults to a standard subject if omitted or empty. */
  message?: string | undefined;
  author?: NamedAuthor | undefined;
  committer?: NamedAuthor | undefined;
  /** Appends a `Signed-off-by:` line of the committer to the message. */
  isSignedOff?: boolean | undefined;
}

/** A commit on a tip. */
export interface PreparedCommit {
  oid: string;
  /** The files in the commit: the blob, or null for a removed file. */
  files: { path: string; oid: string | null }[];
}

/**
 * Builds the request to git. Throws what `checkOperations`, `resolveOperation`, `changeMessage` and `commitPeople`
 * throw.
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
 * Creates and stores a commit of files on a tip, without moving a branch. Throws what `requestOf` throws,
 * `nothing_changed`, `file_in_the_way`, `invalid_git_file`, `disk_low`, `git_busy`. The caller checks access.
 */
export async function prepareCommit(
  deps: RepositoryDeps,
  viewer: Viewer,
  found: Pick<Found, 'path'>,
  tip: string | null,
  commit: FileCommit,
): Promise<PreparedCommit> {
  if (await isDiskLow(found.path, deps.settings.lowDiskFloorBytes))
    throw unavailable('disk_low', 'The server is low on disk space. Read access still works.', {
      retryAfterSeconds: 600,
    });
  const request = await requestOf(deps, viewer, found, tip, commit);
  const { oid, blobs } = await deps.git.merges.commitFiles(found.path, request);
  return { oid, files: request.files.map((file, at) => ({ path: file.path.toString(), oid: blobs[at] ?? null })) };
}
