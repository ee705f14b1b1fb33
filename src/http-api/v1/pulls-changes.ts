import { z } from 'zod';
import type { ChangedFile } from '../../git/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import type { PatchFormat } from '../../pulls/index.ts';
import { json, listed } from '../responses.ts';
import { operation } from '../operation.ts';
import { giteaCommit } from './commits-schemas.ts';
import { showChanges, showGiteaCommits } from './commit-payloads.ts';
import { sliceOf } from './issues-parts.ts';
import { numberedPaging } from './issues-schemas.ts';
import { onePullAt, pullAt } from './pulls-parts.ts';
import { changedFile, pullConflicts } from './pulls-schemas.ts';

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
  summary: 'List the commits of a pull request, the newest first',
  description: `The newest ${mostCommits}; all of them where no page is asked for.`,
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
  summary: 'List the files that a pull request changes',
  description: 'All of them where no page is asked for, 3,000 at most.',
  isPaged: true,
  query: z.object(pages),
  response: z.array(changedFile),
  async run({ viewer, found, params, query, deps, origin }) {
    const { pull } = await deps.pulls.find(viewer, pullAt(found, params.number));
    const { files } = await deps.git.queries.listDiff(found.path, { from: pull.baseOid, to: pull.headOid });
    const { rows, next } = sliceOf(files, query);
    const place = { origin, at: found.canonical, oid: pull.headOid };
    return listed(
      rows.map((file) => showFile(file, place)),
      next,
      files.length,
    );
  },
});

/** Gitea's names for changes of a file. */
const statuses = {
  added: 'added',
  deleted: 'deleted',
  modified: 'changed',
  'type-changed': 'changed',
  renamed: 'renamed',
  copied: 'copied',
} as const;

export function showFile(
  { status, oldPath, newPath, added, removed }: ChangedFile,
  { origin, at, oid }: { origin: string; at: { owner: string; name: string }; oid: string },
): z.output<typeof changedFile> {
  const filename = (status === 'deleted' ? oldPath : newPath).toString('utf8');
  const inPath = filename.split('/').map(encodeURIComponent).join('/');
  const page = `${origin}${repositoryUrl(at)}`;
  const contents = `${origin}/api/v1/repos/${at.owner}/${at.name}/raw?ref=${oid}&path=${encodeURIComponent(filename)}`;
  return {
    filename,
    previous_filename: status === 'renamed' || status === 'copied' ? oldPath.toString('utf8') : '',
    status: statuses[status],
    additions: added ?? 0,
    deletions: removed ?? 0,
    changes: (added ?? 0) + (removed ?? 0),
    html_url: status === 'deleted' ? '' : `${page}/blob/${oid}/${inPath}`,
    contents_url: status === 'deleted' ? '' : contents,
    raw_url: status === 'deleted' ? '' : `${page}/raw/${oid}/${inPath}`,
  };
}

const conflictKinds = { gone_in_ours: 'gone_in_base', gone_in_theirs: 'gone_in_head' } as const;

export const getPullConflicts = operation({
  ...common,
  id: 'getPullConflicts',
  path: `${onePullAt}/conflicts`,
  summary: 'Get the conflicts of a pull request with its base branch',
  description: 'The first files, with the lines that git marks and those around them; no files where it merges.',
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
      round: z.int().optional().describe('Left out: the last one'),
      since: z.int().optional().describe('An older round: only what differs from its head'),
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

export const getPullDiff = patch('getPullDiff', 'diff', 'Get the changes of a pull request, for `git apply`');
export const getPullPatch = patch('getPullPatch', 'patch', 'Get the commits of a pull request as mails, for `git am`');
