import { z } from 'zod';
import { invalid } from '../../../kernel/index.ts';
import { json, listed } from '../../responses.ts';
import { operation } from '../../operation.ts';
import { commit, giteaCommit } from '../shapes/commits-schemas.ts';
import { showChanges, showCommits, showGiteaCommits } from '../shapes/commit-payloads.ts';
import { resolveRef } from './trees-and-archives.ts';
import { timeIn } from '../shapes/issues-parts.ts';
import { numberedPage, paging } from '../shapes/schemas.ts';

const at = '/repos/{owner}/{name}';
const read = { method: 'GET', tag: 'Contents', access: 'repository:read', cost: 'objects', status: 200 } as const;

/** A history continues from the commit where its first page began: a push in between shifts nothing. */
const position = /^([0-9a-f]{40}|[0-9a-f]{64})\.(\d{1,9})$/;

/** Text that can be a process argument. */
const plainText = z.string().regex(/^[^\x00]*$/);

export const listCommits = operation({
  ...read,
  id: 'listCommits',
  path: `${at}/commits`,
  summary: 'List commits, newest first',
  isPaged: true,
  description: 'The response also contains the fields of Gitea’s API.',
  query: z.object({
    ref: z.string().optional().describe('Branch, tag or commit ID; defaults to the default branch'),
    sha: z.string().optional().describe('Alias of ref'),
    path: plainText.max(4096).optional().describe('Only commits that changed this file or folder, following renames'),
    author: plainText
      .max(255)
      .optional()
      .describe('Only commits whose author’s name or email address contains this text'),
    since: z.string().max(50).optional().describe('Only commits after this time, in ISO 8601 format'),
    until: z.string().max(50).optional().describe('Only commits before this time, in ISO 8601 format'),
    page: numberedPage,
    ...paging,
  }),
  response: z.array(commit),
  async run({ found, query, deps, origin }) {
    const { after, limit, page } = query;
    const [, from, skipped] = after === undefined ? [] : (position.exec(after) ?? []);
    if (after !== undefined && from === undefined) throw invalid('invalid_page', 'This page address is not valid.');
    const start = await resolveRef(deps, found, from ?? query.ref ?? query.sha);
    const skip = Number(skipped ?? Math.max(page - 1, 0) * limit);
    const { entries, hasMore } = await deps.git.queries.history(found.path, {
      oid: start,
      file: Buffer.from((query.path ?? '').split('/').filter(Boolean).join('/')),
      author: query.author || null,
      since: timeIn(query.since, 'since'),
      until: timeIn(query.until, 'until'),
      skip,
      limit,
    });
    const commits = entries.map(({ commit }) => commit);
    const isWhole = !query.path && !query.author && query.since === undefined && query.until === undefined;
    // Null if git cannot compute it in time, as on pages.
    const total = isWhole && hasMore ? await deps.git.queries.countCommits(found.path, start) : null;
    const next = hasMore ? `${start}.${skip + limit}` : null;
    return listed(await showCommits(deps, commits, { origin, found }), next, total);
  },
});

export const getCommit = operation({
  ...read,
  id: 'getCommit',
  path: `${at}/commits/{commit}`,
  summary: 'Get a commit',
  description: 'The response also contains the fields of Gitea’s API.',
  response: commit,
  async run({ found, params, deps, origin }) {
    const one = await deps.git.objects.commit(found.path, await resolveRef(deps, found, params.commit));
    const [[shown], changes] = await Promise.all([
      showCommits(deps, [one], { origin, found }),
      showChanges(deps, found, one),
    ]);
    return json({ ...shown!, ...changes });
  },
});

const wanted = z.enum(['true', 'false']).optional().describe('Defaults to true');

export const getGitCommit = operation({
  ...read,
  id: 'getGitCommit',
  path: `${at}/git/commits/{commit}`,
  summary: 'Get a commit in Gitea’s format',
  query: z.object({ stat: wanted, files: wanted, verification: wanted }),
  response: giteaCommit,
  async run({ found, params, query, deps, origin }) {
    const one = await deps.git.objects.commit(found.path, await resolveRef(deps, found, params.commit));
    const [shown] = await showGiteaCommits(deps, [one], { origin, found });
    const hasChanges = query.stat !== 'false' || query.files !== 'false';
    const { files, stats } = hasChanges ? await showChanges(deps, found, one) : { files: null, stats: null };
    return json({
      ...shown!,
      ...(query.verification === 'false' && { commit: { ...shown!.commit, verification: null } }),
      files: query.files === 'false' ? null : files,
      stats: query.stat === 'false' ? null : stats,
    });
  },
});
