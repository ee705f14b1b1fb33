import type { Page, RepositoryContext } from '../app/request-context.ts';
import { changesPage } from './changes-page.reply.ts';
import type { PullsDeps } from './deps.ts';

/**
 * `B/pulls/{number}/changes`: the changes of a round, or those of its author since an earlier one. Query: `from` and
 * `to`, rounds; `plain=1` compares them directly; `file`, a path; `context`, lines; `all=1`; `view=split`; `w=1`
 * ignores white space; `comment`, a place; `last`, its last line.
 */
export const showChanges: Page<RepositoryContext, PullsDeps> = (context, deps) => changesPage(context, deps);
