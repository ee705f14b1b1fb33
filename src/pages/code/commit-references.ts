import type { BareReference } from '../../issues/index.ts';
import { referencesOf } from '../markdown/linked-text.ts';
import { readReferences } from '../markdown/reference-links.ts';
import type { ReferenceLinks } from '../markdown/reference-links.ts';
import type { RepositoryContext } from '../app/request-context.ts';
import type { CodeDeps } from './deps.ts';

/** Longer messages are cut to this. */
const maxLength = 20_000;

/**
 * Looks up all references in the commit messages of a page together.
 * @param messages whole ones, or their subjects where a page shows no more
 * @param others references of other texts on the page
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
