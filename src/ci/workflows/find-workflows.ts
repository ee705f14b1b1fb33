import { createLru, notFound, nullIfNotFound } from '../../kernel/index.ts';
import type { Lru } from '../../kernel/index.ts';
import type { Git } from '../../git/index.ts';
import { bundle } from './bundle.ts';
import { maxWorkflowBytes } from './workflow-size.ts';

/** A workflow file as it is in a commit. */
export interface WorkflowFile {
  /** Path below the workflows folder: `ci.yml`, `deploy/site.yaml`. */
  path: string;
  /** The workflows folder from the root: `.hearth/workflows`. */
  folder: string;
  /** Bundled with the files of the same commit that it calls. */
  content: string;
}

/** Folders of workflows; only the first one that exists in a commit is used. */
const folders = ['.hearth/workflows', '.forgejo/workflows', '.gitea/workflows', '.github/workflows'];

/** Folders whose files affect workflows: the workflow folders, and those of actions next to them. */
export const workflowFolders = folders.flatMap((folder) => [folder, folder.replace('workflows', 'actions')]);

/** Whether a path from the root is that of a workflow file. */
export const isWorkflowPath = (path: string): boolean =>
  folders.some((folder) => path.startsWith(`${folder}/`)) && /\.ya?ml$/.test(path);

/** Whether a file of a repository affects its workflows, or has the path of a workflow folder. */
export const decidesAboutWorkflows = (path: string): boolean =>
  workflowFolders.some((folder) => path === folder || path.startsWith(`${folder}/`) || folder.startsWith(`${path}/`));

const maxFiles = 100;
const maxDepth = 5;

const maxCachedBytes = 4_000_000;
/** Weight of a cache entry itself, which matters for few files. */
const entryWeight = 200;
const fullId = /^[0-9a-f]{40,64}$/;

/** Files of commits by repository and commit, which never change: one push or comment reads them several times. */
const kept = new WeakMap<Git, Lru<string, WorkflowFile[]>>();

function cacheOf(git: Git): Lru<string, WorkflowFile[]> {
  let cache = kept.get(git);
  if (cache === undefined) {
    const weigh = (files: readonly WorkflowFile[]) =>
      files.reduce((sum, { content }) => sum + content.length, entryWeight);
    cache = createLru<string, WorkflowFile[]>({
      name: 'workflow files',
      unit: 'bytes',
      maxWeight: maxCachedBytes,
      weigh,
    });
    kept.set(git, cache);
  }
  return cache;
}

/**
 * The workflow files of a commit, sorted by path. A file above the size limit is truncated, and the parser rejects it.
 */
export async function findWorkflows(git: Git, repositoryPath: string, sha: string): Promise<WorkflowFile[]> {
  if (!fullId.test(sha)) return readWorkflows(git, repositoryPath, sha);
  const cache = cacheOf(git);
  const key = `${repositoryPath} ${sha}`;
  const known = cache.get(key);
  if (known !== undefined) return known;
  const files = await readWorkflows(git, repositoryPath, sha);
  cache.set(key, files);
  return files;
}

/** The workflows folder of a commit; the default one if the commit no longer exists. */
export async function folderOfWorkflows(git: Git, repositoryPath: string, sha: string): Promise<string> {
  const [first] = await findWorkflows(git, repositoryPath, sha).catch((): WorkflowFile[] => []);
  return first?.folder ?? folders[0]!;
}

async function readWorkflows(git: Git, repositoryPath: string, sha: string): Promise<WorkflowFile[]> {
  for (const folder of folders) {
    const entries = await listFolder(git, repositoryPath, sha, folder);
    if (entries === null) continue;
    const files = entries.sort((a, b) => (a.path < b.path ? -1 : 1)).slice(0, maxFiles);
    const read = await Promise.all(
      files.map(async ({ path, oid }) => ({ path, content: await readFile(git, repositoryPath, oid) })),
    );
    const byPath = new Map(read.map(({ path, content }) => [`${folder}/${path}`, content]));
    return read.map(({ path, content }) => ({ path, folder, content: bundle(content, byPath) }));
  }
  return [];
}

interface Entry {
  path: string;
  oid: string;
}

/** Null if there is no such folder. */
async function listFolder(git: Git, repositoryPath: string, sha: string, root: string): Promise<Entry[] | null> {
  const found: Entry[] = [];
  const open = [''];
  while (open.length > 0 && found.length < maxFiles) {
    const at = open.shift()!;
    const tree = await git.objects.tree(repositoryPath, sha, `${root}/${at}`).catch(nullIfNotFound);
    if (tree === null) return at === '' ? null : found;
    for (const { name, kind, oid } of tree.entries) {
      const path = `${at}${name}`;
      if (kind === 'folder' && path.split('/').length < maxDepth) open.push(`${path}/`);
      if ((kind === 'file' || kind === 'executable') && /\.ya?ml$/.test(name)) found.push({ path, oid });
    }
  }
  return found;
}

/** Reads a workflow file by its path from the root. Throws `revision_not_found` if it is not a file. */
export async function readWorkflowFile(git: Git, repositoryPath: string, sha: string, path: string): Promise<string> {
  const entry = await git.objects.entryAt(repositoryPath, sha, path);
  if (entry.kind !== 'file' && entry.kind !== 'executable')
    throw notFound('revision_not_found', 'There is no such branch, tag, commit or file.');
  return readFile(git, repositoryPath, entry.oid);
}

/** Reads one byte more than the limit, so that the parser rejects the file. */
async function readFile(git: Git, repositoryPath: string, oid: string): Promise<string> {
  const { content } = await git.objects.blob(repositoryPath, oid, { maxBytes: maxWorkflowBytes });
  return content === null ? ' '.repeat(maxWorkflowBytes + 1) : content.toString('utf8');
}
