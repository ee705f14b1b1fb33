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
      warning('nodes.clock', `The clock of ${host} (${id}) is ${seconds} s ${side} that of the database.`, {
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
      problem('nodes.key', 'The servers have different instance keys: what one has sealed the others cannot open.', {
        remedy: 'copy ci/secret.key of the data folder from the first one to the others, and restart them',
      }),
    );
  if (new Set(serving.flatMap(({ hostKey }) => hostKey ?? [])).size > 1)
    findings.push(
      problem('nodes.host_key', 'The servers present different SSH host keys, so that clients refuse some of them.', {
        remedy: `restart those that present another key than the first: ${serving
          .flatMap(({ host, hostKey }) => (hostKey === null ? [] : [`${host} ${hostKey}`]))
          .join(', ')}`,
      }),
    );
  if (serving.length > 1 && config.git.storage !== 'store')
    findings.push(
      problem('nodes.storage', 'Several servers serve this database, and repositories are in folders of one of them.', {
        remedy: 'hearth repo storage --to store, and git.storage = "store" on all of them',
      }),
    );
  for (const { host, id, seenAt } of all.filter(({ isLiving, hasStopped }) => !isLiving && !hasStopped))
    findings.push(
      warning('nodes.gone', `${host} (${id}) went without a word at ${new Date(seenAt).toISOString()}.`, {
        remedy: `look at ${host}; the others have taken over its work, and it is forgotten after a week`,
      }),
    );
  return {
    area: 'nodes',
    findings,
    summary:
      all.length === 0
        ? 'no server on PostgreSQL'
        : `${counted(serving.length, 'server serves', 'servers serve')} this database`,
  };
};
