import type { SshDeps } from '../deps.ts';
import { formatIssueReference } from './issue-or-pull-commands.ts';
import { rows, time } from './format-issue.ts';
import type { PullCommand } from './parse-pull-command.ts';
import type { AuthenticatedSession } from './session.ts';

/** `pull queue`: the merge queues of a repository as tab-separated lines, or one line about a pull request. */
export async function* runMergeQueueCommand(
  { pulls }: Pick<SshDeps, 'pulls'>,
  { owner, name, number, act, style }: Extract<PullCommand, { kind: 'pull queue' }>,
  { viewer }: AuthenticatedSession,
): AsyncGenerator<string> {
  const { queue } = pulls;
  if (number === null) {
    const places = await queue.list(viewer, { owner, name });
    return yield rows(
      places.map((place) => [
        place.baseBranch,
        String(place.place),
        String(place.number),
        place.title,
        place.state.toLowerCase(),
        time(place.addedAt),
      ]),
    );
  }
  const at = { owner, name, number };
  if (act === 'leave') {
    await queue.leave(viewer, at);
    return yield `${formatIssueReference(at)} is out of the merge queue.\n`;
  }
  if (act === 'first') await queue.moveToFront(viewer, at);
  else {
    const { pull } = await pulls.find(viewer, at);
    await queue.enter(viewer, at, { style, round: pull.lastRound });
  }
  const place = await queue.placeOf(viewer, at);
  yield place === null
    ? `${formatIssueReference(at)} was merged at once.\n`
    : `${formatIssueReference(at)} is in the merge queue of ${place.baseBranch}, place ${place.place} of ${place.length}.\n`;
}
