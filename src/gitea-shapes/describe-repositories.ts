import { personIdOf, repositoryLevel } from '../access/index.ts';
import type { Viewer } from '../access/index.ts';
import type { Accounts } from '../accounts/index.ts';
import type { Issues } from '../issues/index.ts';
import type { Organisations } from '../organisations/index.ts';
import type { Releases } from '../releases/index.ts';
import type { Located, Repositories } from '../repositories/index.ts';
import type { RepositoryDetails } from './repository.ts';

interface DescribingDeps {
  accounts: Pick<Accounts, 'peopleById'>;
  organisations: Pick<Organisations, 'byIds'>;
  repositories: Pick<Repositories, 'factsOf'> & {
    forks: Pick<Repositories['forks'], 'sourcesOf'>;
    statistics: Pick<Repositories['statistics'], 'mainLanguages'>;
    stars: Pick<Repositories['stars'], 'countsOf'>;
    topics: Pick<Repositories['topics'], 'of'>;
  };
  issues: Pick<Issues, 'tab'>;
  releases: Pick<Releases, 'count'>;
}

type Row = Pick<Located, 'repository' | 'owner'>;

/**
 * Additional data of repositories besides their rows, by id: read for all at once, or from the row cache.
 * @param viewer user whose rights are included, and whose rights decide whether the source of a fork is visible
 */
export async function repositoryDetails(
  deps: DescribingDeps,
  rows: readonly Row[],
  viewer: Viewer,
): Promise<Map<string, RepositoryDetails>> {
  const idsOf = (kind: Row['owner']['kind']) =>
    rows.filter(({ owner }) => owner.kind === kind).map(({ owner }) => owner.id);
  const ids = rows.map(({ repository }) => repository.id);
  const [people, organisations, sources, languages, stars, topics] = await Promise.all([
    deps.accounts.peopleById(new Set(idsOf('user'))),
    deps.organisations.byIds(new Set(idsOf('organisation'))),
    deps.repositories.forks.sourcesOf(
      viewer,
      rows.map(({ repository }) => repository),
    ),
    deps.repositories.statistics.mainLanguages(ids),
    deps.repositories.stars.countsOf(ids),
    deps.repositories.topics.of(ids),
  ]);
  const levelOn = async (repository: Row['repository']) =>
    repositoryLevel(viewer, await deps.repositories.factsOf(personIdOf(viewer), repository));
  const details = await Promise.all(
    rows.map(async ({ repository, owner }): Promise<[string, RepositoryDetails]> => {
      const source = sources.get(repository.id);
      const [level, tab, releases] = await Promise.all([
        levelOn(repository),
        deps.issues.tab(repository.id),
        deps.releases.count(repository.id),
      ]);
      return [
        repository.id,
        {
          ownerProfile: (owner.kind === 'user' ? people : organisations).get(owner.id) ?? null,
          level,
          language: languages.get(repository.id)?.[0] ?? '',
          stars: stars.get(repository.id) ?? 0,
          watchers: 0,
          openIssues: tab.open,
          openPulls: tab.pulls.open,
          releases: releases.published,
          takesIssues: tab.isOn,
          takesPulls: tab.pulls.isOn,
          topics: topics.get(repository.id) ?? [],
          mirror: null,
          parent: source === undefined ? null : { ...source, level: await levelOn(source.repository) },
        },
      ];
    }),
  );
  return new Map(details);
}
