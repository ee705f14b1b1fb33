import type { CombinedStatus, Repositories } from '../../repositories/index.ts';
import { t } from '../../translation/index.ts';
import { viewCommitState } from './commit-state.view.ts';
import type { StatusView } from './commit-state.view.ts';

/** The icon beside a commit: the combined state of its checks, with a link to the first check that matters. */
export interface StatusIconView extends StatusView {
  url: string;
  /** `2 of 3 checks passed`: tooltip and accessible name. */
  title: string;
}

/** @param repositoryUrl the page of the repository; targets of our own checks are below it */
export function viewStatusIcon({ state, statuses }: CombinedStatus, repositoryUrl: string): StatusIconView {
  const passed = statuses.filter((status) => status.state === 'success').length;
  const first = statuses.find((status) => status.state === state);
  const target = first?.targetUrl ?? '';
  const isAbsolute = /^https?:\/\//.test(target);
  return {
    ...viewCommitState(state),
    url: isAbsolute ? target : `${repositoryUrl}/${target === '' ? 'runs' : target}`,
    title: t('app.status_icon.state_passed_of_all', {
      state: viewCommitState(state).text,
      passed,
      all: statuses.length,
    }),
  };
}

/** Status icons of commits, by object id; commits without checks have none. */
export async function statusIcons(
  { statuses }: Pick<Repositories, 'statuses'>,
  repository: { id: string; url: string },
  shas: readonly string[],
): Promise<Map<string, StatusIconView>> {
  const combined = await statuses.ofCommits(repository.id, shas);
  return new Map([...combined].map(([sha, status]) => [sha, viewStatusIcon(status, repository.url)]));
}
