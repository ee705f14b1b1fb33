import type { Tx } from '../../db/index.ts';
import type { Issue } from '../../issues/index.ts';
import { pullSchema } from '../schema/pull-schema.ts';
import { pullExists } from './open-pull.ts';

/** Throws if the branch has another open pull request for the same base, opened since this one was closed. */
export async function refuseDuplicatePull({ manager }: Tx, issue: Issue): Promise<void> {
  if (issue.kind !== 'PULL') return;
  const pull = await manager.findOneBy(pullSchema, { issueId: issue.id });
  if (pull === null) return;
  const { repositoryId, baseBranch, headRepositoryId, headBranch, submitterId, topic } = pull;
  const open = { repositoryId, baseBranch, isOpen: true };
  const isTaken =
    (headBranch !== null &&
      headRepositoryId !== null &&
      (await manager.existsBy(pullSchema, { ...open, headRepositoryId, headBranch }))) ||
    (topic !== null && submitterId !== null && (await manager.existsBy(pullSchema, { ...open, submitterId, topic })));
  if (isTaken) throw pullExists(null);
}
