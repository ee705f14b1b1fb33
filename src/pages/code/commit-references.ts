import type { BareReference } from '../../issues/index.ts';
import { referencesOf } from '../markdown/linked-text.ts';
import { readReferences } from '../markdown/reference-links.ts';
import type { ReferenceLinks } from '../markdown/reference-links.ts';
import type { RepositoryContext } from '../app/request-context.ts';
import type { CodeDeps } from './deps.ts';

/** More of a message is not shown. */
const maxLength = 20_000;

/**
 * What the commit messages of a page refer to, asked at once.
 * @param messages whole ones, or their subjects where a page shows no more
 * @param others what other texts of the page refer to
 */
export const readCommitReferences = (
  context: RepositoryContext,
  deps: Pick<CodeDeps, 'issues'>,
  messages: readonly string[],
  others: readonly BareReference[] = [],
): Promise<ReferenceLinks> =>
  readReferences(context, deps, [
    ...messages.flatMap((message) => referencesOf(message.slice(0, maxLength), context.origin)),
    ...others,
  ]);
