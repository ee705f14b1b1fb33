import { allows, personIdOf, repositoryLevel } from '../../../access/index.ts';
import type { Viewer } from '../../../access/index.ts';
import type { Issue, IssueAt } from '../../../issues/index.ts';
import { notFound } from '../../../kernel/index.ts';
import type { Found } from '../../../repositories/index.ts';
import type { WebDeps } from '../../../web/index.ts';
import { describePulls, pullPayload } from '../../../gitea-shapes/index.ts';
import type { PullPayload } from '../../../gitea-shapes/index.ts';
import { repositoryAt } from '../shapes/issues-parts.ts';
import { showParts } from '../shapes/show-repositories.ts';

/** Code that the operations of pull requests share. */
export const pullsAt = '/repos/{owner}/{name}/pulls';
export const onePullAt = `${pullsAt}/{number}` as const;

const pullNotFound = () => notFound('pull_not_found', 'Pull request not found');

/** Throws `pull_not_found` for an invalid number. */
export function pullAt(found: Found, number: string): IssueAt {
  if (!/^\d{1,15}$/.test(number)) throw pullNotFound();
  return { ...repositoryAt(found), number: Number(number) };
}

interface PullPayloadContext {
  viewer: Viewer;
  deps: WebDeps;
  origin: string;
}

/** Pull requests of one repository that the caller can see. */
export async function showPulls(
  issues: readonly Issue[],
  { viewer, deps, origin }: PullPayloadContext,
): Promise<PullPayload[]> {
  const described = await describePulls(deps, await deps.issues.describe(issues), {
    async mayRead(repository) {
      const facts = await deps.repositories.factsOf(personIdOf(viewer), repository);
      return allows(repositoryLevel(viewer, facts), 'read');
    },
    teamsById: (ids) => deps.organisations.teams.knownAmong(viewer, ids),
  });
  const repositories = new Map(
    described.flatMap(({ base, head }) => [base, head ?? []].flat()).map((each) => [each.repository.id, each]),
  );
  const parts = await showParts([...repositories.values()], viewer, { deps, origin });
  return described.map((pull) => pullPayload(pull, origin, ({ repository }) => parts.get(repository.id)!));
}

/** One pull request. Throws `pull_not_found`. */
export async function showPull(place: PullPayloadContext, at: IssueAt): Promise<PullPayload> {
  const { issue } = await place.deps.pulls.find(place.viewer, at);
  const [shown] = await showPulls([issue], place);
  if (shown === undefined) throw pullNotFound();
  return shown;
}
