import { bindDeps } from '../../kernel/index.ts';
import type { CiDeps } from '../deps.ts';
import type { RunnerRow } from '../schema/runner-schema.ts';
import { countInLog, findInLog, followLog, groupInLog, rawLog, readLog } from './read-log.ts';
import { findMissingReference } from './missing-reference.ts';
import { Masks, receiveLog } from './receive-log.ts';
import type { IncomingLog } from './receive-log.ts';
import { searchLog } from './search-log.ts';

/** Receives rows of logs from runners, and reads logs. */
export function createLogService(deps: CiDeps) {
  const bind = bindDeps(deps);
  const masks = new Masks();
  return {
    newRows: () => deps.logs.newRows(),
    receive: (runner: RunnerRow, incoming: IncomingLog) => receiveLog(deps, masks, runner, incoming),
    read: bind(readLog),
    raw: bind(rawLog),
    search: bind(searchLog),
    find: bind(findInLog),
    count: bind(countInLog),
    groupOf: bind(groupInLog),
    missingReference: bind(findMissingReference),
    follow: bind(followLog),
  };
}
