import { z } from 'zod';
import type { WebDeps } from '../../../web/index.ts';
import { invalid, nullIfNotFound, visitAll } from '../../../kernel/index.ts';
import type { Viewer } from '../../../access/index.ts';
import type { FileChange, FileOperation, Found } from '../../../repositories/index.ts';
import { created, json } from '../../responses.ts';
import { operation } from '../../operation.ts';
import { resolveRef } from './trees-and-archives.ts';
import {
  contents,
  diffPatch,
  fileDeletion,
  fileResponse,
  filesChange,
  filesResponse,
  fileUpdate,
  newFile,
} from '../shapes/contents-schemas.ts';
import type { FileOptions } from '../shapes/contents-schemas.ts';
import { showFileCommit } from '../shapes/commit-payloads.ts';
import { showEntry, showWithContent } from '../shapes/contents-payloads.ts';

const at = '/repos/{owner}/{name}/contents';
const read = { method: 'GET', tag: 'Contents', access: 'repository:read', cost: 'objects', status: 200 } as const;
const write = { tag: 'Contents', access: 'repository:write', cost: 'change', refuses: [409, 422] } as const;

/** Twelve MiB of content in base64; larger files must be pushed with git. */
const maxJsonBytes = 16 * 1024 * 1024;
const query = z.object({
  ref: z.string().optional().describe('Branch, tag or commit ID; defaults to the default branch'),
});

const getRootContents = operation({
  ...read,
  id: 'getRootContents',
  path: at,
  summary: 'List the root folder',
  query,
  response: z.array(contents),
  run: async ({ found, query, deps, origin }) => json(await listFolder(deps, found, '', query.ref, origin)),
});

const getContents = operation({
  ...read,
  id: 'getContents',
  path: `${at}/{filepath}`,
  summary: 'Get a file with its content, or list a folder',
  query,
  response: z.union([contents, z.array(contents)]),
  async run({ found, params, query, deps, origin }) {
    const file = params.filepath.split('/').filter(Boolean).join('/');
    if (file === '') return json(await listFolder(deps, found, '', query.ref, origin));
    const commit = await resolveRef(deps, found, query.ref);
    const entry = await deps.git.objects.entryAt(found.path, commit, file);
    if (entry.kind === 'folder') return json(await listFolder(deps, found, file, query.ref, origin));
    const place = { origin, at: found.canonical, ref: query.ref ?? found.repository.defaultBranch, commit };
    return json(await showWithContent(deps, found.path, file, entry, place));
  },
});

async function listFolder(
  deps: Pick<WebDeps, 'git'>,
  found: Found,
  folder: string,
  ref: string | undefined,
  origin: string,
) {
  const commit = await resolveRef(deps, found, ref);
  const { entries } = await deps.git.objects.tree(found.path, commit, folder, { withSizes: true });
  const place = { origin, at: found.canonical, ref: ref ?? found.repository.defaultBranch, commit };
  const shown: ReturnType<typeof showEntry>[] = [];
  await visitAll(entries, (entry) => {
    shown.push(showEntry(folder === '' ? entry.name : `${folder}/${entry.name}`, entry, place));
  });
  return shown;
}

const createFile = operation({
  ...write,
  id: 'createFile',
  method: 'POST',
  path: `${at}/{filepath}`,
  summary: 'Create a file',
  status: 201,
  maxJsonBytes,
  body: newFile,
  response: fileResponse,
  async run({ viewer, found, params, body, deps, origin }) {
    const operations: FileOperation[] = [{ kind: 'create', path: params.filepath, content: bytesOf(body.content) }];
    return created(await changeOne(deps, viewer, found, operations, body, origin));
  },
});

const updateFile = operation({
  ...write,
  id: 'updateFile',
  method: 'PUT',
  path: `${at}/{filepath}`,
  summary: 'Update a file, or create it if sha is omitted',
  status: 200,
  maxJsonBytes,
  body: fileUpdate,
  response: fileResponse,
  async run({ viewer, found, params, body, deps, origin }) {
    const content = bytesOf(body.content);
    const path = params.filepath;
    const from = body.from_path || undefined;
    const operations: FileOperation[] = [
      body.sha
        ? { kind: 'update', path, from, content, expected: body.sha }
        : from === undefined
          ? { kind: 'create', path, content }
          : { kind: 'update', path, from, content },
    ];
    return json(await changeOne(deps, viewer, found, operations, body, origin));
  },
});

const deleteFile = operation({
  ...write,
  id: 'deleteFile',
  method: 'DELETE',
  path: `${at}/{filepath}`,
  summary: 'Delete a file',
  status: 200,
  body: fileDeletion,
  response: fileResponse,
  async run({ viewer, found, params, body, deps, origin }) {
    const operations: FileOperation[] = [{ kind: 'delete', path: params.filepath, expected: body.sha }];
    return json(await changeOne(deps, viewer, found, operations, body, origin));
  },
});

const changeFiles = operation({
  ...write,
  id: 'changeFiles',
  method: 'POST',
  path: at,
  summary: 'Create, update, rename and delete several files in one commit',
  description: 'An upload replaces an existing file. A rename without content keeps the current content.',
  status: 201,
  maxJsonBytes,
  body: filesChange,
  response: filesResponse,
  async run({ viewer, found, body, deps, origin }) {
    const operations = body.files.map(({ operation, path, content, sha, from_path }): FileOperation => {
      const expected = sha || undefined;
      const bytes = content == null ? undefined : bytesOf(content);
      if (operation === 'delete') return { kind: 'delete', path, expected };
      if (operation === 'rename' && !from_path)
        throw invalid('from_path_needed', 'Set from_path to the current path of the file.', { field: 'from_path' });
      if (operation === 'update' || operation === 'rename') {
        if (operation === 'update' && bytes === undefined && !from_path) throw contentNeeded();
        return { kind: 'update', path, from: from_path || undefined, expected, ...(bytes && { content: bytes }) };
      }
      if (bytes === undefined) throw contentNeeded();
      return { kind: operation === 'upload' ? 'put' : 'create', path, content: bytes };
    });
    return created(await change(deps, viewer, found, operations, body, origin));
  },
});

const applyDiffPatch = operation({
  ...write,
  id: 'applyDiffPatch',
  method: 'POST',
  path: '/repos/{owner}/{name}/diffpatch',
  summary: 'Apply a patch to a branch',
  description:
    'Output of git diff becomes a single commit; every email from git format-patch becomes a commit with its own author, date and message.',
  status: 201,
  maxJsonBytes,
  body: diffPatch,
  response: fileResponse,
  async run({ viewer, found, body, deps, origin }) {
    const { owner, name } = found.canonical;
    const { message = 'apply-patch', ...options } = readOptions(body);
    const patch = Buffer.from(body.content);
    const { oid } = await deps.repositories.contents.patch(viewer, owner, name, { ...options, message, patch });
    const commit = await deps.git.objects.commit(found.path, oid);
    return created({ content: null, ...(await showFileCommit(deps, commit, { origin, found })) });
  },
});

const contentNeeded = () => invalid('content_needed', 'Send the content of the file in base64.', { field: 'content' });

/** Throws `invalid_base64`. */
export function bytesOf(text: string): Buffer {
  const plain = text.replace(/[\r\n\t ]+/g, '');
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(plain))
    throw invalid('invalid_base64', 'Content is given in base64.', { field: 'content' });
  return Buffer.from(plain, 'base64');
}

async function change(
  deps: WebDeps,
  viewer: Viewer,
  found: Found,
  operations: readonly FileOperation[],
  options: FileOptions,
  origin: string,
) {
  const { owner, name } = found.canonical;
  const changed = await deps.repositories.contents.change(viewer, owner, name, { operations, ...readOptions(options) });
  const commit = await deps.git.objects.commit(found.path, changed.oid);
  const place = { origin, at: found.canonical, ref: changed.branch, commit: changed.oid };
  const files = [];
  // A renamed file occurs twice in the commit; its former name is not shown.
  for (const operation of operations) {
    const entry = await deps.git.objects.entryAt(found.path, changed.oid, operation.path).catch(nullIfNotFound);
    const isThere = entry !== null && operation.kind !== 'delete';
    files.push(isThere ? await showWithContent(deps, found.path, operation.path, entry, place) : null);
  }
  return { files, ...(await showFileCommit(deps, commit, { origin, found })) };
}

async function changeOne(...args: Parameters<typeof change>) {
  const { files, ...rest } = await change(...args);
  return { content: files[0] ?? null, ...rest };
}

function readOptions(options: FileOptions): Omit<FileChange, 'operations'> {
  const { message, branch, new_branch, author, committer, dates, signoff } = options;
  // Go clients send the year 1 for an unset time, and git has no times before 1970.
  const time = (text: string | null | undefined) => {
    const at = text == null ? -1 : Date.parse(text);
    return at < 0 ? undefined : at;
  };
  const named = (one: FileOptions['author'], date: string | null | undefined) => ({
    name: one?.name || undefined,
    email: one?.email || undefined,
    at: time(date),
  });
  return {
    message: message || undefined,
    branch: branch || undefined,
    newBranch: new_branch || undefined,
    author: named(author, dates?.author),
    committer: named(committer, dates?.committer),
    isSignedOff: signoff ?? false,
  };
}

export const fileContentOperations = [
  getRootContents,
  changeFiles,
  applyDiffPatch,
  getContents,
  createFile,
  updateFile,
  deleteFile,
];
