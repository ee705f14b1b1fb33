import { z } from 'zod';
import { conflict, invalid, isDomainError, notFound } from '../../../kernel/index.ts';
import type { RoundRow } from '../../../pulls/index.ts';
import { json, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';
import { numberIn, usersById } from '../shapes/issues-parts.ts';
import { textBytes } from '../issues/issues.ts';
import { onePullAt, pullAt } from './parts.ts';
import { pullMerge, pullRound, pullRoundCommits } from '../shapes/pulls-schemas.ts';
import { isoTime } from '../shapes/payloads.ts';

const common = { tag: 'Pull requests', cost: 'objects' } as const;
const read = { ...common, method: 'GET', access: 'repository:read', status: 200 } as const;
const write = { ...common, access: 'repository:read', scope: 'write' } as const;

/** Gitea's names of merge methods. */
export const styles = { merge: 'merge', rebase: 'rebase', squash: 'squash', 'fast-forward-only': 'forward' } as const;

export const getPullMerged = operation({
  ...read,
  cost: 'rows',
  status: 204,
  id: 'getPullMerged',
  path: `${onePullAt}/merge`,
  summary: 'Check whether a pull request is merged (404 if it is not)',
  async run({ viewer, found, params, deps }) {
    const { issue } = await deps.pulls.find(viewer, pullAt(found, params.number));
    if (issue.state !== 'MERGED') throw notFound('pull_not_merged', 'The pull request is not merged.');
    return noContent();
  },
});

export const mergePull = operation({
  ...write,
  id: 'mergePull',
  method: 'POST',
  path: `${onePullAt}/merge`,
  summary: 'Merge a pull request',
  description:
    'Merges immediately or schedules the merge. If requirements are not met, returns merge_blocked with all reasons.',
  status: 200,
  refuses: [409],
  maxJsonBytes: textBytes,
  body: pullMerge,
  async run({ viewer, found, params, body, deps }) {
    const at = pullAt(found, params.number);
    const how = body.Do ?? body.do;
    if (how == null) throw invalid('style_needed', 'Set Do to the merge method.', { field: 'Do' });
    const { pull, settings } = await deps.pulls.find(viewer, at);
    if (body.head_commit_id && body.head_commit_id !== pull.headOid)
      throw conflict('head_changed', 'The head has changed. Review it first.');
    const input = {
      style: styles[how],
      round: pull.lastRound,
      title: (body.MergeTitleField ?? body.merge_title_field) || undefined,
      body: body.MergeMessageField ?? body.merge_message_field ?? undefined,
    };
    if (body.merge_when_checks_succeed) {
      await deps.pulls.mergeWhenReady(viewer, at, input);
      return noContent();
    }
    await deps.pulls.merge(viewer, at, { ...input, bypasses: body.force_merge ?? false });
    if (body.delete_branch_after_merge ?? settings.deletesMergedBranches)
      await deps.pulls.deleteBranch(viewer, at).catch((error: unknown) => {
        // The merge succeeded; a branch that the caller may not delete stays.
        if (!isDomainError(error)) throw error;
      });
    return noContent();
  },
});

export const cancelPullMerge = operation({
  ...write,
  cost: 'rows',
  id: 'cancelPullMerge',
  method: 'DELETE',
  path: `${onePullAt}/merge`,
  summary: 'Cancel a scheduled merge',
  status: 204,
  async run({ viewer, found, params, deps }) {
    const at = pullAt(found, params.number);
    const { pull } = await deps.pulls.find(viewer, at);
    if (pull.mergeWhenReady === null) throw notFound('merge_not_asked', 'No later merge is scheduled.');
    await deps.pulls.cancelMergeWhenReady(viewer, at);
    return noContent();
  },
});

export const updatePullBranch = operation({
  ...write,
  id: 'updatePullBranch',
  method: 'POST',
  path: `${onePullAt}/update`,
  summary: 'Update a pull request’s head with its base branch',
  status: 200,
  refuses: [409, 422],
  query: z.object({ style: z.enum(['merge', 'rebase']).default('merge') }),
  async run({ viewer, found, params, query, deps }) {
    const at = pullAt(found, params.number);
    const { pull } = await deps.pulls.find(viewer, at);
    const style = query.style === 'rebase' ? 'REBASE' : 'MERGE';
    await deps.pulls.updateBranch(viewer, at, { style, round: pull.lastRound });
    return noContent();
  },
});

type User = Awaited<ReturnType<typeof usersById>>;

const showRound = (row: RoundRow, user: User): z.output<typeof pullRound> => ({
  round: row.round,
  head_sha: row.headOid,
  base_sha: row.baseOid,
  commits_count: row.commitCount,
  change: row.change,
  note: row.note,
  user: row.submitterId === null ? null : user(row.submitterId),
  created_at: isoTime(row.createdAt),
});

export const listPullRounds = operation({
  ...read,
  cost: 'rows',
  id: 'listPullRounds',
  path: `${onePullAt}/rounds`,
  summary: 'List a pull request’s rounds, oldest first',
  description: 'Every accepted push creates a round, which is kept even if the branch is rewritten.',
  response: z.array(pullRound),
  async run({ viewer, found, params, deps, origin }) {
    const rows = await deps.pulls.rounds.list(viewer, pullAt(found, params.number));
    const user = await usersById(
      deps,
      rows.map(({ submitterId }) => submitterId),
      origin,
    );
    return json(rows.map((row) => showRound(row, user)));
  },
});

export const getPullRound = operation({
  ...read,
  cost: 'rows',
  id: 'getPullRound',
  path: `${onePullAt}/rounds/{round}`,
  summary: 'Get a round with its commits',
  response: pullRoundCommits,
  async run({ viewer, found, params, deps, origin }) {
    const at = pullAt(found, params.number);
    const row = await deps.pulls.rounds.find(viewer, at, numberIn(params.round));
    const commits = await deps.pulls.rounds.commits(viewer, at, row.round);
    const user = await usersById(deps, [row.submitterId], origin);
    return json({
      ...showRound(row, user),
      commits: commits.map(({ oid, subject, changeId }) => ({ sha: oid, subject, change_id: changeId })),
    });
  },
});
