import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import { allows } from '../../../access/index.ts';
import { mapAll, notFound, nullIfNotFound } from '../../../kernel/index.ts';
import { isWholeId } from '../../../git/index.ts';
import type { NamedRef } from '../../../git/index.ts';
import type { LfsObjectRow } from '../../../lfs/index.ts';
import type { Found } from '../../../repositories/index.ts';
import type { WebDeps } from '../../../web/index.ts';
import { repositoryUrl } from '../../../http/index.ts';
import { json, listed } from '../../responses.ts';
import { operation } from '../../operation.ts';
import { archive, numberedPage, paging, tree } from '../shapes/schemas.ts';
import { showTags, tagShape } from './tags.ts';

const at = '/repos/{owner}/{name}';
const ref = z.string().optional().describe('Branch, tag or commit ID; defaults to the default branch');

/** The commit to which a name resolves. Throws `revision_not_found`, also for an empty repository. */
export async function resolveRef(
  { git }: Pick<WebDeps, 'git'>,
  { path, level }: Pick<Found, 'path' | 'level'>,
  name: string | undefined,
): Promise<string> {
  if (name !== undefined) return git.refs.resolve(path, name, { includeUnreachable: allows(level, 'write') });
  const { oid } = await git.refs.head(path);
  if (oid === null) throw notFound('revision_not_found', 'This repository has no commits yet.');
  return oid;
}

/** The commit of a download: a tag precedes a branch of the same name, so that no branch replaces a release. */
export async function resolveDownload(
  { git }: Pick<WebDeps, 'git'>,
  found: Pick<Found, 'path' | 'level'>,
  name: string | undefined,
): Promise<string> {
  const tag = name === undefined || isWholeId(name) ? null : `refs/tags/${name}`;
  const isTag = tag !== null && (await git.queries.cachedRefs(found.path)).has(tag);
  return resolveRef({ git }, found, isTag ? tag : name);
}

/** A page of the refs of a folder, by number or after the last name of the previous page. */
export async function pageOfRefs(
  { git }: Pick<WebDeps, 'git'>,
  { path }: Pick<Found, 'path'>,
  folder: 'refs/heads/' | 'refs/tags/',
  { page, limit, after }: { page: number; limit: number; after?: string | undefined },
): Promise<{ rows: NamedRef[]; next: string | number | null; total: number }> {
  const refs = await git.queries.cachedRefs(path);
  const from = page > 0 ? (page - 1) * limit : after === undefined ? 0 : refs.upTo(folder, after);
  const rows = refs.page(folder, from, limit);
  const total = refs.count(folder);
  const next = from + limit >= total ? null : page > 0 ? page + 1 : rows.at(-1)!.name;
  return { rows, next, total };
}

export const listTags = operation({
  id: 'listTags',
  method: 'GET',
  path: `${at}/tags`,
  tag: 'Contents',
  summary: 'List tags by name',
  access: 'repository:read',
  cost: 'objects',
  status: 200,
  isPaged: true,
  query: z.object({ ...paging, page: numberedPage }),
  response: z.array(tagShape),
  async run({ found, query, deps, origin }) {
    const { rows, next, total } = await pageOfRefs(deps, found, 'refs/tags/', query);
    return listed(await showTags(deps, found, origin, rows), next, total);
  },
});

export const getTree = operation({
  id: 'getTree',
  method: 'GET',
  path: `${at}/tree`,
  tag: 'Contents',
  summary: 'List a folder',
  access: 'repository:read',
  cost: 'objects',
  status: 200,
  query: z.object({ ref, path: z.string().default('').describe('Defaults to the root folder') }),
  response: tree,
  async run({ found, query, deps }) {
    const oid = await resolveRef(deps, found, query.ref);
    const folder = query.path
      .split('/')
      .filter((part) => part !== '')
      .join('/');
    const { oid: id, entries, truncated } = await deps.git.objects.tree(found.path, oid, folder, { withSizes: true });
    const shown = await mapAll(entries, ({ name, kind, mode, oid: id, size }) => ({
      name,
      path: folder === '' ? name : `${folder}/${name}`,
      kind,
      mode,
      id,
      size,
    }));
    return json({ commit: oid, id, path: folder, entries: shown, truncated });
  },
});

/** Smaller files are sent from memory; larger ones are streamed from a git process. */
const maxHeldBytes = 2 * 1024 * 1024;

/** The content of a Git LFS file. */
async function sendObject({ lfs }: Pick<WebDeps, 'lfs'>, object: LfsObjectRow) {
  return {
    kind: 'bytes' as const,
    type: 'application/octet-stream',
    body: (await lfs.read(object)).stream,
    headers: {
      'Content-Disposition': 'attachment',
      'Content-Security-Policy': "default-src 'none'; sandbox",
      'Content-Length': String(object.bytes),
      ETag: `"lfs-${object.oid}"`,
    } as Record<string, string>,
  };
}

/** Throws `revision_not_found`. */
async function sendRaw(
  { git, lfs }: Pick<WebDeps, 'git' | 'lfs'>,
  found: Found,
  { ref, path, followsLfs }: { ref?: string | undefined; path: string; followsLfs: boolean },
) {
  const oid = await resolveRef({ git }, found, ref);
  const entry = await git.objects.entryAt(found.path, oid, path);
  if (entry.type !== 'blob') throw notFound('revision_not_found', 'There is no such branch, tag, commit or file.');
  const { content } = await git.objects.blob(found.path, entry.oid, { maxBytes: maxHeldBytes });
  const object = content === null || !followsLfs ? null : await lfs.ofPointer(found.repository.id, content);
  if (object !== null) return sendObject({ lfs }, object);
  const isText = content !== null && isUtf8(content) && !content.includes(0);
  return {
    kind: 'bytes' as const,
    type: isText ? 'text/plain; charset=utf-8' : 'application/octet-stream',
    body: content ?? (await git.queries.streamBlob(found.path, entry.oid)),
    headers: {
      // A browser that follows a link here shows text and saves other types; it executes neither.
      'Content-Disposition': isText ? 'inline' : 'attachment',
      'Content-Security-Policy': "default-src 'none'; sandbox",
      ETag: `"${entry.oid}"`,
    } as Record<string, string>,
  };
}

export const getRawFile = operation({
  id: 'getRawFile',
  method: 'GET',
  path: `${at}/raw`,
  tag: 'Contents',
  summary: 'Get a file’s raw content',
  description:
    'A symbolic link returns its target, a Git LFS pointer the content it refers to. Text is returned as text/plain, everything else as application/octet-stream.',
  access: 'repository:read',
  cost: 'objects',
  status: 200,
  query: z.object({ ref, path: z.string() }),
  response: 'bytes',
  run: ({ found, query, deps }) => sendRaw(deps, found, { ...query, followsLfs: true }),
});

/** More parts than the names of branches have. */
const maxRefParts = 32;

/**
 * As in Gitea, a path without `ref` can begin with a branch, a tag or a whole commit ID: Jenkins reads its files at
 * `raw/BRANCH/PATH`. Otherwise it is a path of the default branch.
 */
async function placesOf({ git }: Pick<WebDeps, 'git'>, { path }: Found, filepath: string) {
  const refs = await git.queries.cachedRefs(path);
  const parts = filepath.split('/');
  const begins = parts.slice(1, maxRefParts + 1).map((_, at) => parts.slice(0, at + 1).join('/'));
  const named = ['refs/heads/', 'refs/tags/'].flatMap((folder) =>
    begins.filter((name) => refs.has(folder + name)).map((name) => ({ ref: folder + name, name })),
  );
  const commits = begins.slice(0, 1).filter((name) => /^[0-9a-f]{40}$/.test(name));
  return [...named, ...commits.map((name) => ({ ref: name, name }))].map(({ ref, name }) => ({
    ref,
    path: filepath.slice(name.length + 1),
  }));
}

/** Throws `revision_not_found`. */
async function sendRawAt(deps: WebDeps, found: Found, filepath: string, followsLfs: boolean) {
  for (const place of await placesOf(deps, found, filepath)) {
    const sent = await sendRaw(deps, found, { ...place, followsLfs }).catch(nullIfNotFound);
    if (sent !== null) return sent;
  }
  return sendRaw(deps, found, { path: filepath, followsLfs });
}

const rawAt = (id: string, path: `${typeof at}/${'raw' | 'media'}/{filepath}`, followsLfs: boolean, summary: string) =>
  operation({
    id,
    method: 'GET',
    path,
    tag: 'Contents',
    summary,
    description: 'Without ref, the path can begin with a branch, a tag or a full commit ID, as in Gitea.',
    access: 'repository:read',
    cost: 'objects',
    status: 200,
    query: z.object({ ref }),
    response: 'bytes',
    run: ({ found, params: { filepath }, query: { ref }, deps }) =>
      ref === undefined
        ? sendRawAt(deps, found, filepath, followsLfs)
        : sendRaw(deps, found, { ref, path: filepath, followsLfs }),
  });

/** At Gitea's URLs: CI servers read their settings file there. */
export const rawOperations = [
  rawAt('getRawFileAt', `${at}/raw/{filepath}`, false, 'Get a file’s raw content without resolving Git LFS pointers'),
  rawAt('getMediaFileAt', `${at}/media/{filepath}`, true, 'Get a file’s raw content, resolving Git LFS pointers'),
];

export const getArchiveLinks = operation({
  id: 'getArchiveLinks',
  method: 'GET',
  path: `${at}/archive`,
  tag: 'Contents',
  summary: 'Get the URLs of source archives',
  description: 'The URLs contain the commit ID, so their content does not change when the branch moves.',
  access: 'repository:read',
  cost: 'objects',
  status: 200,
  query: z.object({ ref }),
  response: archive,
  async run({ found, query, deps, origin }) {
    const commit = await resolveDownload(deps, found, query.ref);
    const start = `${origin}${repositoryUrl(found.canonical)}/archive/${commit}`;
    return json({ commit, tarGz: `${start}.tar.gz`, zip: `${start}.zip` });
  },
});
