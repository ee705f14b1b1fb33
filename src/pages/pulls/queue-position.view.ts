import type { PullRights, QueuePosition } from '../../pulls/index.ts';
import { viewTime } from '../app/times.view.ts';
import { viewPerson } from '../issues/people.view.ts';
import type { People } from '../issues/people.view.ts';
import type { QueuePositionView } from './merge-box.view.ts';

/** The position of a pull request in the merge queue, and the actions of the viewer. */
export function viewQueuePosition(
  { place, length, state, addedBy, addedAt, testedSince }: QueuePosition,
  { rights, repository, people, now }: { rights: PullRights; repository: string; people: People; now: number },
): QueuePositionView {
  const isTesting = state === 'TESTING';
  return {
    place,
    length,
    isTesting,
    by: addedBy === null ? null : viewPerson(addedBy, people),
    since: viewTime(isTesting && testedSince !== null ? testedSince : addedAt, now),
    runsUrl: `${repository}/runs?event=merge_group`,
    url: `${repository}/pulls/queue`,
    mayLeave: rights('edit') === null,
    mayBeFirst: !isTesting && place > 1 && rights('queue_first') === null,
  };
}
