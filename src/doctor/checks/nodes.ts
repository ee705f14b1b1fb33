import { problem, warning } from '../check-result.ts';
import type { CheckResult } from '../check-result.ts';
import { counted } from '../deps.ts';
import type { CheckGroup } from '../deps.ts';

/** Nodes rely on each other's times: for signatures, sessions and due work. */
const toleratedMs = 1_000;

/** The servers of one database: whether they can replace each other. */
export const checkNodes: CheckGroup = async ({ config, nodes }) => {
  const all = await nodes.list();
  const serving = all.filter(({ isLiving }) => isLiving);
  const findings: CheckResult[] = [];
  for (const { host, id, clockAheadMs } of serving) {
    if (Math.abs(clockAheadMs) <= toleratedMs) continue;
    const seconds = (Math.abs(clockAheadMs) / 1000).toFixed(1);
    const side = clockAheadMs > 0 ? 'ahead of' : 'behind';
    findings.push(
      warning('nodes.clock', `The clock of ${host} (${id}) is ${seconds} s ${side} the database clock.`, {
        remedy: `on ${host}: timedatectl set-ntp true`,
      }),
    );
  }
  const versions = new Set(serving.map(({ version }) => version));
  if (versions.size > 1)
    findings.push(
      problem('nodes.version', `The servers have different versions: ${[...versions].sort().join(', ')}.`, {
        remedy: 'stop all of them, install one version, and start them again',
      }),
    );
  if (new Set(serving.map(({ keyPrint }) => keyPrint)).size > 1)
    findings.push(
      problem('nodes.key', "The servers have different instance keys: they cannot decrypt each other's secrets.", {
        remedy: 'copy ci/secret.key in the data folder of the first server to the others, and restart them',
      }),
    );
  if (new Set(serving.flatMap(({ hostKey }) => hostKey ?? [])).size > 1)
    findings.push(
      problem(
        'nodes.host_key',
        'The servers present different SSH host keys, so clients refuse to connect to some of them.',
        {
          remedy: `restart those that present another key than the first: ${serving
            .flatMap(({ host, hostKey }) => (hostKey === null ? [] : [`${host} ${hostKey}`]))
            .join(', ')}`,
        },
      ),
    );
  if (serving.length > 1 && config.git.storage !== 'store')
    findings.push(
      problem(
        'nodes.storage',
        'Several servers use this database, but some repositories are in folders on one of them.',
        {
          remedy: 'hearth repo storage --to store, and git.storage = "store" on all of them',
        },
      ),
    );
  for (const { host, id, seenAt } of all.filter(({ isLiving, hasStopped }) => !isLiving && !hasStopped))
    findings.push(
      warning('nodes.gone', `${host} (${id}) disappeared at ${new Date(seenAt).toISOString()} without shutting down.`, {
        remedy: `check ${host}; the other servers have taken over its work, and it is removed from the list after a week`,
      }),
    );
  return {
    area: 'nodes',
    findings,
    summary:
      all.length === 0
        ? 'no server uses PostgreSQL'
        : `${counted(serving.length, 'server uses', 'servers use')} this database`,
  };
};
