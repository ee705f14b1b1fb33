import { repositoryUrl } from '../../http/index.ts';
import type { WebDeps } from '../../web/index.ts';
import type { Pulls } from '../../pulls/index.ts';
import { t, translated } from '../../translation/index.ts';
import { viewName } from '../app/printable-names.ts';
import { viewTime } from '../app/times.view.ts';
import type { TimeView } from '../app/times.view.ts';
import { issueUrl } from '../issues/issue-urls.ts';

/** A pull request that waits for the viewer, or for other users. */
interface AttentionPullView {
  title: string;
  url: string;
  /** `alice/roof#7` */
  name: string;
  repository: { name: string; url: string; isPrivate: boolean };
  /** The reason why it waits for the viewer; null if it waits for others. */
  reason: string | null;
  since: TimeView;
}

type Waiting = Awaited<ReturnType<Pulls['attention']['waitingFor']>>['rows'];

const reasonWords: Readonly<Record<string, string>> = translated({
  asked: 'pulls.attention_pulls.you_were_asked_for_a_review',
  team: 'pulls.attention_pulls.your_team_was_asked_for_a',
  owner: 'pulls.attention_pulls.it_changes_code_you_own',
  round: 'pulls.attention_pulls.new_round_since_your_review',
  review: 'pulls.attention_pulls.it_was_reviewed',
  reply: 'pulls.attention_pulls.new_reply',
});

/** Pull requests deleted since the query are omitted. */
export async function viewAttentionPulls(
  { repositories, clock }: Pick<WebDeps, 'repositories' | 'clock'>,
  rows: Waiting,
): Promise<AttentionPullView[]> {
  const located = await repositories.locate(rows.map(({ issue }) => issue.repositoryId));
  return rows.flatMap(({ issue, reason, since }) => {
    const place = located.get(issue.repositoryId);
    if (place === undefined) return [];
    const at = { owner: place.owner.handle, name: place.repository.name };
    const url = repositoryUrl(at);
    return [
      {
        title: viewName(issue.title),
        url: issueUrl(url, issue.number, 'PULL'),
        name: `${at.owner}/${at.name}#${issue.number}`,
        repository: { name: `${at.owner}/${at.name}`, url, isPrivate: place.repository.visibility === 'PRIVATE' },
        reason: reason === null ? null : (reasonWords[reason] ?? t('pulls.attention_pulls.waiting_for_you')),
        since: viewTime(since, clock.now()),
      },
    ];
  });
}
