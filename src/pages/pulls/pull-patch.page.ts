import type { PatchFormat } from '../../pulls/index.ts';
import { content } from '../app/reply.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import { pullAt, readChangesQuery } from './changes-urls.ts';
import type { PullsDeps } from './deps.ts';

const sendAs =
  (format: PatchFormat): Page<RepositoryContext, PullsDeps> =>
  async (context, { pulls }) => {
    const { from, to } = readChangesQuery(context);
    const wanted = { format, round: to ?? undefined, since: from ?? undefined };
    const { range, text } = await pulls.rounds.patch(context.viewer, pullAt(context), wanted);
    return content('text/plain; charset=utf-8', text, {
      headers: { ETag: `"${range.from}${range.to}.${format}"` },
    });
  };

/**
 * `B/pulls/{number}.diff` and `B/pulls/{number}.patch`: the last round, or another one with `?to=`; with `?from=` the
 * changes since the head of an older round. Throw `pull_not_found`, `round_not_found`, `invalid_rounds`,
 * `too_large_to_stream`, `git_busy`.
 */
export const showPullDiff = sendAs('diff');
export const showPullPatch = sendAs('patch');
