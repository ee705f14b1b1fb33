import { createHash } from 'node:crypto';
import { badgeSvg } from './badge.view.ts';
import { content } from '../app/reply.ts';
import type { Reply } from '../app/reply.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import type { RunsDeps } from './deps.ts';

/**
 * `runs/badge/{workflow}.svg`: the newest run of a workflow on a branch. Query: `branch`; defaults to the default
 * branch.
 */
export const showBadge: Page<RepositoryContext, RunsDeps> = async (
  { found, params, query },
  { ci },
): Promise<Reply> => {
  const workflow = (params.workflow ?? '').replace(/\.svg$/, '');
  const branch = query.get('branch') ?? found.repository.defaultBranch;
  const run = await ci.runs.newest(found.repository.id, workflow, `refs/heads/${branch}`);
  const svg = badgeSvg(run?.workflowName ?? workflow, run?.status ?? null);
  return content('image/svg+xml; charset=utf-8', svg, {
    headers: {
      ETag: `"${createHash('sha256').update(svg).digest('base64url').slice(0, 22)}"`,
      // Without it, clients that cache images for long would show an outdated status.
      'Cache-Control': `${found.repository.visibility === 'PUBLIC' ? 'public' : 'private'}, no-cache`,
      'Content-Security-Policy': "default-src 'none'; sandbox",
    },
  });
};
