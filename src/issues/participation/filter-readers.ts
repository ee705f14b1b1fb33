import { personViewer, refusalOnIssue } from '../../access/index.ts';
import { yieldToEventLoop } from '../../kernel/index.ts';
import type { Repository } from '../../repositories/index.ts';
import type { IssueDeps } from '../deps.ts';
import { factsOfIssue } from '../issue-context.ts';
import type { Issue } from '../schema/issue-schema.ts';

/** People who are looked at between two looks at the clock: notifications of a few are written in their order. */
const atOnce = 100;

/** Those of these people who may read an issue, with the rights of a session; before they are notified. */
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
    // What follows decides about contributions, and about reading nothing.
    const all = { ...facts, archived: false, issuesFrom: 'anyone', blocked: false } as const;
    if (refusalOnIssue(personViewer(id, 'admin'), all, issueFacts, 'read') === null) readers.push(id);
  }
  return readers;
}
