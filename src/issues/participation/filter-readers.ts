import { personViewer, refusalOnIssue } from '../../access/index.ts';
import { yieldToEventLoop } from '../../kernel/index.ts';
import type { Repository } from '../../repositories/index.ts';
import type { IssueDeps } from '../deps.ts';
import { factsOfIssue } from '../issue-context.ts';
import type { Issue } from '../schema/issue-schema.ts';

/** Users checked before yielding to other requests: notifications of a few are written in order. */
const atOnce = 100;

/** Those of these users who can read an issue, with session rights; checked before they are notified. */
export async function filterReaders(
  { repositories }: Pick<IssueDeps, 'repositories'>,
  { repository, issue }: { repository: Repository; issue: Issue },
  personIds: readonly string[],
): Promise<string[]> {
  const readers: string[] = [];
  const issueFacts = factsOfIssue(issue);
  for (const [index, id] of personIds.entries()) {
    if (index > 0 && index % atOnce === 0) await yieldToEventLoop();
    const facts = await repositories.factsOf(id, repository);
    // Later entries concern contributions, not read access.
    const all = { ...facts, archived: false, issuesFrom: 'anyone', blocked: false } as const;
    if (refusalOnIssue(personViewer(id, 'admin'), all, issueFacts, 'read') === null) readers.push(id);
  }
  return readers;
}
