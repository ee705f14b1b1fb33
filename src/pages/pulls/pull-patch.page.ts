import type { PatchFormat } from '../../pulls/index.ts';
import { content } from '../app/reply.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import { pullAt } from './changes-address.ts';
import type { PullsDeps } from './deps.ts';

const sendAs =
  (format: PatchFormat): Page<RepositoryContext, PullsDeps> =>
  async (context, { pulls }) => {
    const { round, text } = await pulls.rounds.patch(context.viewer, pullAt(context), { format });
    return content('text/plain; charset=utf-8', text, {
      headers: { ETag: `"${round.baseOid}${round.headOid}.${format}"` },
    });
  };

/** `B/pulls/{number}.diff` and `B/pulls/{number}.patch`. Refuse `pull_not_found`, `too_large_to_stream`, `git_busy`. */
export const showPullDiff = sendAs('diff');
export const showPullPatch = sendAs('patch');
