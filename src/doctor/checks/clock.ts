import { stat } from 'node:fs/promises';
import { problem, warning } from '../check-result.ts';
import type { CheckResult } from '../check-result.ts';
import { rowsOf } from '../deps.ts';
import type { CheckContext, CheckGroup } from '../deps.ts';

/** Two readings of one clock may differ by less than this. */
const toleratedMs = 60_000;

/** Folder in which systemd-timesyncd records that it has set the clock; absent with other programs. */
const timesyncFolder = '/run/systemd/timesync';

/**
 * The clock: codes of authenticator apps are valid for half a minute, and providers and other servers refuse signatures
 * with a wrong time. It cannot be compared with another clock here, but it must not be earlier than recorded events.
 */
export const checkClock: CheckGroup = async (deps) => ({
  area: 'clock',
  findings: [...(await checkOrder(deps)), ...(await checkSynchronisation(deps, timesyncFolder))],
  summary: new Date(deps.now).toISOString(),
});

async function checkOrder(deps: CheckContext): Promise<CheckResult[]> {
  const rows = await rowsOf(
    deps,
    `SELECT at FROM audit_log WHERE id = (SELECT max(id) FROM audit_log)
     UNION ALL SELECT max(last_seen_at) FROM sessions`,
  );
  const latest = Math.max(0, ...rows.map(({ at }) => Number(at ?? 0)));
  const behindMs = latest - deps.now;
  if (behindMs <= toleratedMs) return [];
  const minutes = Math.round(behindMs / 60_000);
  const told = minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
  return [
    problem(
      'clock.behind',
      `The clock is at least ${told} behind: the database contains an event from ${new Date(latest).toISOString()}. ` +
        'Authenticator app codes and signatures of other servers are rejected.',
      { remedy: "set this machine's clock and keep it synchronised with NTP" },
    ),
  ];
}

/** Only if sign-in depends on it. */
async function checkSynchronisation(deps: CheckContext, folder: string): Promise<CheckResult[]> {
  const [person] = await rowsOf(deps, "SELECT user_id FROM recovery_codes WHERE user_id > '' LIMIT 1");
  if (person === undefined && deps.config.oidc.providers.length === 0) return [];
  const [isManaged, isSynchronised] = await Promise.all(
    [folder, `${folder}/synchronized`].map((path) =>
      stat(path).then(
        () => true,
        () => false,
      ),
    ),
  );
  return isManaged && !isSynchronised
    ? [
        warning('clock.not_synchronised', 'NTP has not set the clock of this machine since it started.', {
          remedy: 'timedatectl timesync-status',
        }),
      ]
    : [];
}
