import type { KeptCopy } from '../../copies/index.ts';
import { viewTime } from '../app/times.view.ts';

const shortId = (oid: string): string => oid.slice(0, 10);

/** The text about the origin on the page of a mirror. */
export function viewKeptCopy(copy: KeptCopy, url: string, now: number) {
  const { handle, state, since, completeTo, lastOkAt, endsAt, isRunning } = copy;
  return {
    handle,
    originUrl: copy.url,
    isRunning,
    isWaiting: state === 'waiting',
    /** Time since which the origin cannot be read. */
    unreachable: since === null || state === 'full' ? null : viewTime(since, now),
    isFull: state === 'full',
    error: copy.error,
    ends: endsAt === null ? null : viewTime(endsAt, now),
    complete: completeTo === null ? null : { id: shortId(completeTo), url: `${url}/commit/${completeTo}` },
    lastOk: lastOkAt === null ? null : viewTime(lastOkAt, now),
  };
}
