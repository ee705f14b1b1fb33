import { invalid } from '../../kernel/index.ts';
import type { EntryLog } from '../entries/write-entries.ts';
import type { IssueContext } from '../issue-context.ts';
import { foldName } from '../parse-texts.ts';
import { milestoneSchema } from '../schema/classification-schema.ts';
import { issueSchema } from '../schema/issue-schema.ts';

/**
 * Adds an issue to a milestone of its repository by title, or removes it from its milestone. Throws
 * `unknown_milestone`.
 */
export async function setMilestone(
  log: EntryLog,
  { issue, repository }: Pick<IssueContext, 'issue' | 'repository'>,
  title: string | null,
): Promise<void> {
  const { manager } = log.tx;
  const found =
    title === null
      ? null
      : await manager.findOneBy(milestoneSchema, { repositoryId: repository.id, titleFolded: foldName(title) });
  if (title !== null && found === null)
    throw invalid('unknown_milestone', 'This milestone does not exist.', { field: 'milestone' });
  if (issue.milestoneId === (found?.id ?? null)) return;
  await manager.update(issueSchema, { id: issue.id }, { milestoneId: found?.id ?? null });
  issue.milestoneId = found?.id ?? null;
  await log.append(issue, { kind: 'milestoned', details: { milestone: found?.title ?? null } });
}
