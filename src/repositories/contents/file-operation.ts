import type { CommittedFile, TreeEntry } from '../../git/index.ts';
import { conflict, invalid, nullIfNotFound } from '../../kernel/index.ts';
import type { RepositoryDeps } from '../deps.ts';
import { parseFilePath, refuseReorderedName } from './file-path.ts';

/** One change of a file. `expected` is the blob that the user saw. */
export type FileOperation =
  /** Creates a file. */
  | { kind: 'create'; path: string; content: Buffer; isExecutable?: boolean }
  /** Changes content, path or both; the executable bit stays. */
  | { kind: 'update'; path: string; from?: string | undefined; content?: Buffer; expected?: string | undefined }
  /** Writes a file, whether or not it exists. */
  | { kind: 'put'; path: string; content: Buffer }
  | { kind: 'delete'; path: string; expected?: string | undefined };

/** Limit of files per change. */
const maxOperations = 300;

/**
 * Checks everything that does not need the repository. Throws `no_files`, `too_many_files`, `path_twice`,
 * `change_too_large`, and what `parseFilePath` throws.
 */
export function checkOperations(operations: readonly FileOperation[], maxBytes: number): void {
  if (operations.length === 0) throw invalid('no_files', 'Enter a file to change.', { field: 'files' });
  if (operations.length > maxOperations)
    throw invalid('too_many_files', `At most ${maxOperations} files can be changed at a time.`, { field: 'files' });
  const seen = new Set<string>();
  let bytes = 0;
  for (const operation of operations) {
    for (const path of pathsOf(operation)) {
      if (seen.has(parseFilePath(path)))
        throw invalid('path_twice', `The change lists ${path} twice.`, { field: 'path' });
      seen.add(path);
    }
    if ('content' in operation) bytes += operation.content?.length ?? 0;
  }
  if (bytes > maxBytes) {
    const limit = maxBytes / 1024 / 1024;
    throw invalid(
      'change_too_large',
      `The files in one change can be at most ${limit} MiB in total. Push larger changes with git.`,
      {
        field: 'content',
      },
    );
  }
}

const pathsOf = (operation: FileOperation): string[] =>
  operation.kind === 'update' && operation.from !== undefined && operation.from !== operation.path
    ? [operation.from, operation.path]
    : [operation.path];

/**
 * Resolves an operation to the changes in the commit's tree. Throws `file_exists`, `file_not_found`, `file_changed` if
 * the blob is not the expected one, `not_a_file` for folders, symbolic links and submodules, and what
 * `refuseReorderedName` throws for a new name.
 * @param tip null if there is no commit yet
 */
export async function resolveOperation(
  { git }: Pick<RepositoryDeps, 'git'>,
  path: string,
  tip: string | null,
  operation: FileOperation,
): Promise<CommittedFile[]> {
  const entryAt = async (file: string): Promise<TreeEntry | null> =>
    tip === null ? null : git.objects.entryAt(path, tip, Buffer.from(file)).catch(nullIfNotFound);
  const target = Buffer.from(operation.path);
  switch (operation.kind) {
    case 'create': {
      if ((await entryAt(operation.path)) !== null) throw exists(operation.path);
      refuseReorderedName(operation.path);
      const { content, isExecutable = false } = operation;
      return [{ path: target, file: { isExecutable, content } }];
    }
    case 'put': {
      const entry = await entryAt(operation.path);
      const isExecutable = entry !== null && requireFile(operation.path, entry).kind === 'executable';
      if (entry === null) refuseReorderedName(operation.path);
      return [{ path: target, file: { isExecutable, content: operation.content } }];
    }
    case 'delete': {
      await expectedFile(operation.path, operation.expected);
      return [{ path: target, file: null }];
    }
    case 'update': {
      const from = operation.from ?? operation.path;
      const entry = await expectedFile(from, operation.expected);
      const isMoved = from !== operation.path;
      if (isMoved && (await entryAt(operation.path)) !== null) throw exists(operation.path);
      if (isMoved) refuseReorderedName(operation.path);
      const isExecutable = entry.kind === 'executable';
      const { content } = operation;
      const file = content === undefined ? { isExecutable, oid: entry.oid } : { isExecutable, content };
      return [...(isMoved ? [{ path: Buffer.from(from), file: null }] : []), { path: target, file }];
    }
  }

  async function expectedFile(file: string, expected: string | undefined): Promise<TreeEntry> {
    const entry = await entryAt(file);
    if (entry === null) throw conflict('file_not_found', `${file} does not exist.`, { field: 'path' });
    requireFile(file, entry);
    if (expected !== undefined && entry.oid !== expected)
      throw conflict('file_changed', `${file} has changed since you started.`, { field: 'sha' });
    return entry;
  }
}

const exists = (file: string) => conflict('file_exists', `${file} already exists.`, { field: 'path' });

const otherKinds: Partial<Record<TreeEntry['kind'], string>> = {
  folder: 'a folder',
  symlink: 'a symbolic link',
  submodule: 'a submodule',
};

function requireFile(file: string, entry: TreeEntry): TreeEntry {
  const other = otherKinds[entry.kind];
  if (other !== undefined)
    throw invalid('not_a_file', `${file} is ${other}, which can only be changed with git.`, { field: 'path' });
  return entry;
}
