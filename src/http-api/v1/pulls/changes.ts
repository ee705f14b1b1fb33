import { z } from 'zod';
import type { PatchFormat } from '../../../pulls/index.ts';
import { json, listed } from '../../responses.ts';
import { operation } from '../../operation.ts';
import { giteaCommit } from '../shapes/commits-schemas.ts';
import { showChangedFile } from '../shapes/changed-file.ts';
import { showChanges, showGiteaCommits } from '../shapes/commit-payloads.ts';
import { sliceOf } from '../shapes/issues-parts.ts';
import { numberedPaging } from '../shapes/issues-schemas.ts';
import { onePullAt, pullAt } from './parts.ts';
import { changedFile, pullConflicts } from '../shapes/pulls-schemas.ts';

const common = {
  tag: 'Pull requests',
  access: 'repository:read',
  cost: 'objects',
  method: 'GET',
  status: 200,
} as const;
const pages = { page: numberedPaging.page, limit: numberedPaging.limit };

/** Limit of listed commits of a round. */
const mostCommits = 250;

export const listPullCommits = operation({
  ...common,
  id: 'listPullCommits',
  path: `${onePullAt}/commits`,
  summary: 'List a pull request’s commits, newest first',
  description: `Covers the newest ${mostCommits}. Without a page number, all are returned.`,
  isPaged: true,
  query: z.object(pages),
  response: z.array(giteaCommit),
  async run({ viewer, found, params, query, deps, origin }) {
    const { pull } = await deps.pulls.find(viewer, pullAt(found, params.number));
    const commits = await deps.git.queries.commitsBetween(found.path, pull.baseOid, pull.headOid, {
      limit: mostCommits,
    });
    const { rows, next } = sliceOf(commits, query);
    const shown = await showGiteaCommits(deps, rows, { origin, found });
    // Sequentially: each commit compares two trees.
    for (const [at, commit] of rows.entries()) Object.assign(shown[at]!, await showChanges(deps, found, commit));
    return listed(shown, next, commits.length);
  },
});

export const listPullFiles = operation({
  ...common,
  id: 'listPullFiles',
  path: `${onePullAt}/files`,
  summary: 'List the files changed by a pull request',
  description: 'Without a page number, all are returned, up to 3,000.',
  isPaged: true,
  query: z.object(pages),
  response: z.array(changedFile),
  async run({ viewer, found, params, query, deps, origin }) {
    const { pull } = await deps.pulls.find(viewer, pullAt(found, params.number));
    const { files } = await deps.git.queries.listDiff(found.path, { from: pull.baseOid, to: pull.headOid });
    const { rows, next } = sliceOf(files, query);
    const place = { origin, at: found.canonical, oid: pull.headOid };
    return listed(
      rows.map((file) => showChangedFile(file, place)),
      next,
      files.length,
    );
  },
});

const conflictKinds = { gone_in_ours: 'gone_in_base', gone_in_theirs: 'gone_in_head' } as const;

export const getPullConflicts = operation({
  ...common,
  id: 'getPullConflicts',
  path: `${onePullAt}/conflicts`,
  summary: 'Get a pull request’s conflicts with its base branch',
  description:
    'Lists the first files with the conflicting lines and their context; lists no files if it merges cleanly.',
  response: pullConflicts,
  async run({ viewer, found, params, deps }) {
    const at = pullAt(found, params.number);
    const { pull } = await deps.pulls.find(viewer, at);
    const conflicts = await deps.pulls.conflicts(viewer, at);
    return json({
      base_sha: conflicts?.baseOid ?? pull.baseOid,
      head_sha: conflicts?.headOid ?? pull.headOid,
      total: conflicts?.total ?? 0,
      files: (conflicts?.files ?? []).map(({ path, kind, hunks, cutShort }) => ({
        filename: path,
        kind: kind === 'gone_in_ours' || kind === 'gone_in_theirs' ? conflictKinds[kind] : kind,
        hunks: hunks.map((lines) =>
          lines.map(({ number, kind, text }) => ({ line: number, kind, text: text.toString('utf8') })),
        ),
        truncated: cutShort,
      })),
    });
  },
});

const patch = (id: string, format: PatchFormat, summary: string) =>
  operation({
    ...common,
    id,
    path: `${onePullAt}.${format}`,
    summary,
    response: 'bytes',
    refuses: [422],
    query: z.object({
      round: z.int().optional().describe('Defaults to the latest round'),
      since: z.int().optional().describe('Older round: returns only the differences from its head'),
    }),
    async run({ viewer, found, params, query, deps }) {
      const wanted = { format, round: query.round, since: query.since };
      return {
        kind: 'bytes',
        type: 'text/plain; charset=utf-8',
        body: (await deps.pulls.rounds.patch(viewer, pullAt(found, params.number), wanted)).text,
        headers: { 'X-Content-Type-Options': 'nosniff' },
      };
    },
  });

export const getPullDiff = patch('getPullDiff', 'diff', 'Get a pull request’s changes as a diff for `git apply`');
export const getPullPatch = patch(
  'getPullPatch',
  'patch',
  'Get a pull request’s commits as email patches for `git am`',
);
