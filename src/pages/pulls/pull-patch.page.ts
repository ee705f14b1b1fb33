import { invalid } from '../../kernel/index.ts';
import { content } from '../app/reply.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import { pullAt } from './changes-address.ts';
import type { PullsDeps } from './deps.ts';

/** Commits of a round that are sent as mails. */
const maxMails = 1_000;

/** `.diff` is what the last round changes; `.patch` its commits as mails for `git am`. Both are sent as git writes. */
const sendAs =
  (format: 'diff' | 'patch'): Page<RepositoryContext, PullsDeps> =>
  async (context, { git, pulls }) => {
    const { path } = context.found;
    const { baseOid: from, headOid: to, commitCount } = await pulls.rounds.find(context.viewer, pullAt(context));
    if (format === 'patch' && commitCount > maxMails)
      throw invalid(
        'too_large_to_stream',
        `This pull request has more than ${maxMails.toLocaleString('en')} commits. Fetch it with git instead.`,
      );
    const body =
      format === 'diff'
        ? await git.queries.plainDiff(path, { from, to })
        : await git.queries.mailPatches(path, { from, to });
    return content('text/plain; charset=utf-8', body, { headers: { ETag: `"${from}${to}.${format}"` } });
  };

/** `B/pulls/{number}.diff` and `B/pulls/{number}.patch`. Refuse `pull_not_found`, `too_large_to_stream`, `git_busy`. */
export const showPullDiff = sendAs('diff');
export const showPullPatch = sendAs('patch');
