import { z } from 'zod';
import { giteaTime } from '../../../gitea-shapes/index.ts';
import { conflict, invalid, isDomainError, notFound } from '../../../kernel/index.ts';
import type { licenceTemplates } from '../../../repositories/index.ts';
import { json, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';
import { olderRepository } from '../shapes/older-forms.ts';
import { resolveDownload, resolveRef } from '../code/trees-and-archives.ts';
import { repository } from '../shapes/schemas.ts';
import { showRepository } from '../shapes/show-repositories.ts';

/** Gitea's other operations on a whole repository, and information about its content. */
const at = '/repos/{owner}/{name}';
const read = { method: 'GET', tag: 'Contents', access: 'repository:read', cost: 'objects', status: 200 } as const;

const transfer = operation({
  id: 'transferRepository',
  method: 'POST',
  path: `${at}/transfer`,
  tag: 'Repositories',
  summary: 'Transfer a repository to another owner',
  description:
    'Transfers immediately to an owner that the caller can act for. Otherwise, the new owner must accept the transfer.',
  access: 'repository:owner',
  cost: 'objects',
  status: 202,
  refuses: [404, 422],
  conflictStatus: 422,
  body: z.object({
    new_owner: z.string(),
    team_ids: z.array(z.int()).optional().describe('Not supported: add teams to the repository separately'),
  }),
  response: repository,
  older: olderRepository,
  async run({ viewer, found, body, deps, origin }) {
    const { id } = found.repository;
    await deps.repositories.transfers.start(viewer, found.canonical.owner, found.canonical.name, body.new_owner);
    const there = (await deps.repositories.locate([id])).get(id);
    if (there === undefined) throw notFound('repository_not_found', 'Repository not found');
    return json(await showRepository(there.repository, there.owner, viewer, { origin, deps }));
  },
});

/** A private repository with a pending transfer stays hidden from the recipient, except for the offer itself. */
const answer = (id: string, word: 'accept' | 'reject') =>
  operation({
    id,
    method: 'POST',
    path: `${at}/transfer/${word}` as `${typeof at}/transfer/accept`,
    tag: 'Repositories',
    summary: `${word === 'accept' ? 'Accept' : 'Decline'} a repository transfer`,
    access: 'account:admin',
    cost: 'objects',
    status: word === 'accept' ? 202 : 200,
    refuses: [404, 409, 422],
    response: repository,
    older: olderRepository,
    async run({ viewer, params, deps, origin }) {
      const offers = await deps.repositories.transfers.listOffers(viewer);
      const offer = offers.find(
        ({ repository: { owner, name } }) =>
          owner.handle.toLowerCase() === params.owner.toLowerCase() && name.toLowerCase() === params.name.toLowerCase(),
      );
      if (offer === undefined) throw notFound('repository_not_found', 'Repository not found');
      const { id } = offer.repository;
      if (word === 'accept') await deps.repositories.transfers.accept(viewer, id);
      else await deps.repositories.transfers.decline(viewer, id);
      const after = (await deps.repositories.locate([id])).get(id);
      if (after === undefined) throw notFound('repository_not_found', 'Repository not found');
      return json(await showRepository(after.repository, after.owner, viewer, { origin, deps }));
    },
  });

const languages = operation({
  ...read,
  id: 'listRepositoryLanguages',
  path: `${at}/languages`,
  cost: 'rows',
  summary: 'List a repository’s main languages in descending order of share',
  response: z.record(z.string(), z.int()),
  async run({ found, deps }) {
    const { id, sizeBytes } = found.repository;
    const names = (await deps.repositories.statistics.mainLanguages([id])).get(id) ?? [];
    return json(
      Object.fromEntries(names.map((name, at) => [name, Math.max(1, Math.round(sizeBytes / 2 ** (at + 1)))])),
    );
  },
});

/** Beginnings of the licence texts for new repositories. */
const licenceStarts: Readonly<Record<keyof typeof licenceTemplates, RegExp>> = {
  MIT: /^MIT License\b/,
  'Apache-2.0': /^\s*Apache License\s+Version 2\.0/,
  'GPL-3.0': /^\s*GNU GENERAL PUBLIC LICENSE\s+Version 3/,
  'AGPL-3.0': /^\s*GNU AFFERO GENERAL PUBLIC LICENSE\s+Version 3/,
  'BSD-3-Clause': /^BSD 3-Clause License/,
  'MPL-2.0': /^Mozilla Public License Version 2\.0/,
  'CC0-1.0': /^(?:CC0|Creative Commons)/,
  Unlicense: /^This is free and unencumbered software/,
};
const licenceFiles = ['LICENSE', 'LICENSE.md', 'LICENSE.txt', 'LICENCE', 'COPYING'];

const licences = operation({
  ...read,
  id: 'listRepositoryLicences',
  path: `${at}/licenses`,
  summary: 'List the licences in the root folder',
  response: z.array(z.string()),
  async run({ found, deps }) {
    const head = await deps.git.refs.head(found.path);
    if (head.oid === null) return json([]);
    const { entries } = await deps.git.objects.tree(found.path, head.oid, '');
    const file = licenceFiles.flatMap(
      (name) => entries.find((entry) => entry.name === name && entry.kind === 'file') ?? [],
    )[0];
    if (file === undefined) return json([]);
    const { content } = await deps.git.objects.blob(found.path, file.oid, { maxBytes: 256 * 1024 });
    const text = (content ?? Buffer.alloc(0)).subarray(0, 500).toString('utf8');
    return json(Object.entries(licenceStarts).flatMap(([name, start]) => (start.test(text) ? [name] : [])));
  },
});

const formats = { 'tar.gz': 'application/gzip', zip: 'application/zip' } as const;

/** A folder or file name that is valid on every system. */
const plainName = (text: string): string =>
  text
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[.-]+/, '')
    .slice(0, 100);

const archive = operation({
  ...read,
  id: 'getArchive',
  path: `${at}/archive/{filepath}`,
  summary: 'Download an archive of a commit: {ref}.tar.gz or {ref}.zip',
  description: 'The archive contains the content of Git LFS files.',
  response: 'bytes',
  refuses: [404],
  async run({ found, params, deps: { git, lfs } }) {
    const [, ref, word] = /^(.+)\.(tar\.gz|zip)$/s.exec(params.filepath) ?? [];
    if (ref === undefined) throw notFound('revision_not_found', 'There is no such branch, tag, commit or file.');
    const format = word as keyof typeof formats;
    const oid = await resolveDownload({ git }, found, ref);
    const prefix = `${found.canonical.name}-${plainName(ref) || 'files'}`;
    const request = { oid, format, prefix, client: found.repository.id };
    const body =
      (await lfs.fillArchive(found.repository.id, format, () => git.queries.archiveAsTar(found.path, request))) ??
      (await git.queries.archive(found.path, request));
    return {
      kind: 'bytes',
      type: formats[format],
      body,
      headers: { 'Content-Disposition': `attachment; filename="${prefix}.${format}"` },
    };
  },
});

const annotatedTag = operation({
  ...read,
  id: 'getAnnotatedTag',
  path: `${at}/git/tags/{sha}`,
  summary: 'Get an annotated tag by its object ID',
  response: z
    .strictObject({
      tag: z.string(),
      sha: z.string(),
      url: z.string(),
      message: z.string(),
      tagger: z.strictObject({ name: z.string(), email: z.string(), date: z.string() }),
      object: z.strictObject({ type: z.literal('commit'), sha: z.string(), url: z.string() }),
      verification: z.null(),
    })
    .meta({ id: 'AnnotatedTag' }),
  async run({ found, params, deps, origin }) {
    const absent = () => notFound('tag_gone', 'There is no such tag.');
    const refs = await deps.git.queries.cachedRefs(found.path);
    const name = refs.nameOf('refs/tags/', params.sha);
    if (name === null) throw absent();
    const [note] = await deps.git.queries.tags(found.path, [params.sha]);
    if (note == null) throw absent();
    const commit = await resolveRef(deps, found, `refs/tags/${name}`);
    const api = `${origin}/api/v1/repos/${found.canonical.owner}/${found.canonical.name}/git`;
    return json({
      tag: name,
      sha: params.sha,
      url: `${api}/tags/${params.sha}`,
      // git ends it with a line feed.
      message: `${note.message}\n`,
      tagger: {
        name: note.tagger?.name ?? '',
        email: note.tagger?.email ?? '',
        date: giteaTime(note.tagger?.at ?? 0),
      },
      object: { type: 'commit' as const, sha: commit, url: `${api}/commits/${commit}` },
      verification: null,
    });
  },
});

const updateBranch = operation({
  id: 'updateBranch',
  method: 'PUT',
  path: `${at}/branches/{branch}`,
  tag: 'Contents',
  summary: 'Move a branch to another commit as a push by the caller',
  access: 'repository:write',
  cost: 'objects',
  status: 204,
  refuses: [422],
  conflictStatus: 422,
  body: z.object({
    new_commit_id: z.string().max(64),
    old_commit_id: z.string().max(64).optional().describe('Expected current commit of the branch'),
    force: z.boolean().default(false).describe('Whether to allow discarding commits'),
  }),
  async run({ viewer, found, params, body, deps }) {
    const ref = `refs/heads/${params.branch}`;
    const oldId = await deps.git.refs.tip(found.path, ref);
    if (oldId === null) throw notFound('no_such_branch', 'There is no such branch.');
    if (body.old_commit_id !== undefined && body.old_commit_id !== oldId)
      throw conflict('ref_moved', 'The branch has moved to another commit.', { field: 'old_commit_id' });
    const newId = await resolveRef(deps, found, body.new_commit_id).catch((error: unknown) => {
      if (!isDomainError(error) || error.code !== 'not_found') throw error;
      throw invalid('start_not_found', 'There is no such commit.', { field: 'new_commit_id' });
    });
    if (newId === oldId) return noContent();
    const { behind } = await deps.git.queries.distance(found.path, oldId, newId);
    if (behind > 0 && !body.force)
      throw invalid('not_fast_forward', 'This would discard commits. Set force to do it anyway.', { field: 'force' });
    const move = { branch: params.branch, oldId, newId, right: 'push', via: 'api' } as const;
    const { isMoved } = await deps.repositories.pushes.moveBranch(viewer, found, move);
    if (!isMoved) throw conflict('ref_moved', 'The branch has moved to another commit.');
    return noContent();
  },
});

const renameBranch = operation({
  id: 'renameBranch',
  method: 'PATCH',
  path: `${at}/branches/{branch}`,
  tag: 'Contents',
  summary: 'Rename a branch by creating the new branch and deleting the old one',
  description: 'Renaming the default branch requires administrator access to the repository.',
  access: 'repository:write',
  cost: 'objects',
  status: 204,
  refuses: [409, 422],
  body: z.object({ name: z.string().max(255) }),
  async run({ viewer, found, params, body, deps }) {
    const { owner, name } = found.canonical;
    const { branches, edit } = deps.repositories;
    const expected = await deps.git.refs.tip(found.path, `refs/heads/${params.branch}`);
    if (expected === null) throw notFound('no_such_branch', 'There is no such branch.');
    if (body.name === params.branch) return noContent();
    const isDefault = params.branch === found.repository.defaultBranch;
    if (isDefault && found.level !== 'admin')
      throw conflict('default_branch', 'Those who administer the repository rename its default branch.');
    await branches.create(viewer, owner, name, { name: body.name, from: `refs/heads/${params.branch}` });
    if (isDefault) await edit(viewer, owner, name, { defaultBranch: body.name });
    await branches.delete(viewer, owner, name, { name: params.branch, expected });
    return noContent();
  },
});

const mirrorSync = operation({
  id: 'syncPullMirror',
  method: 'POST',
  path: `${at}/mirror-sync`,
  tag: 'Mirrors',
  summary: 'Schedule a sync of a pull mirror',
  access: 'repository:owner',
  cost: 'rows',
  status: 200,
  refuses: [404, 409, 422],
  async run({ found, deps }) {
    if ((await deps.mirrors.find(found.repository.id))?.direction !== 'pull')
      throw invalid('not_a_mirror', 'This repository is no pull mirror.');
    await deps.mirrors.sync(found.repository.id);
    return noContent();
  },
});

const pinsAllowed = operation({
  ...read,
  id: 'getNewPinAllowed',
  path: `${at}/new_pin_allowed`,
  tag: 'Issues',
  cost: 'rows',
  summary: 'Check whether more issues and pull requests can be pinned',
  response: z.strictObject({ issues: z.boolean(), pull_requests: z.boolean() }).meta({ id: 'NewIssuePinsAllowed' }),
  async run({ viewer, found, deps }) {
    const pinned = await deps.issues.listPinned(viewer, found.canonical);
    const isFree = pinned.length < 3;
    return json({ issues: isFree, pull_requests: isFree });
  },
});

export const repositoryActOperations = [
  transfer,
  answer('acceptTransfer', 'accept'),
  answer('declineTransfer', 'reject'),
  languages,
  licences,
  archive,
  annotatedTag,
  updateBranch,
  renameBranch,
  mirrorSync,
  pinsAllowed,
];
